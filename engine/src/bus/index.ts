/** The bus: hints between nodes, by memory, by Postgres or by Redis. */
export type { Bus, ClosableBus } from './bus.js';
export { memoryBus } from './memory-bus.js';
export { withoutVainHints } from './vain-hints.js';
export { postgresBus, type BusSession, type PostgresBusOptions } from './postgres-bus.js';
export { redisBus, type RedisBusOptions } from './redis-bus.js';
