/** The contract's world in memory: time stands still until it is told to move. */
import type { ContractWorld } from './contract/world.js';
import { MemoryDatabase } from './memory-database.js';
import { memoryStores, type StoreFault } from './memory-stores.js';

const BEGIN_US = 1_800_000_000_000_000;

/** Makes a world. */
export function memoryWorld(): ContractWorld {
  let nowUs = BEGIN_US;
  const db = new MemoryDatabase({ nowUs: () => nowUs });
  return {
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
  };
}
