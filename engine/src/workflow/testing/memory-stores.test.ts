import { describeRunStoreContract } from './run-store-contract.js';
import { MemoryDatabase } from './memory-database.js';
import { memoryStores, type StoreFault } from './memory-stores.js';

describeRunStoreContract('memory', async () => {
  let nowUs = 1_800_000_000_000_000;
  const db = new MemoryDatabase({ nowUs: () => nowUs });
  return Promise.resolve({
    open: () => {
      let next: StoreFault | null = null;
      const stores = memoryStores(db, {
        intercept: ({ method }) => {
          const fault = method === 'commit' ? next : null;
          if (method === 'commit') next = null;
          return Promise.resolve(fault);
        },
      });
      return Promise.resolve({
        ...stores,
        kill: () => Promise.resolve(stores.kill()),
        loseNextAnswer: () => {
          next = { kind: 'lost_after' };
        },
      });
    },
    advance: (ms) => {
      nowUs += ms * 1000;
      return Promise.resolve();
    },
    moment: () => Promise.resolve(),
    close: () => Promise.resolve(),
  });
});
