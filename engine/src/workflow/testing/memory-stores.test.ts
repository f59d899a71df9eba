import { memoryWorld } from './memory-world.js';
import { describeRunStoreContract } from './run-store-contract.js';

describeRunStoreContract('memory', () => Promise.resolve(memoryWorld()));
