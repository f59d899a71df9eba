/** The store: the embedded PostgreSQL, sessions and transactions, migrations, batches. Tables belong to the rooms. */
export * from './batch/index.js';
export * from './connect/index.js';
export * from './embedded/index.js';
export * from './inspect/index.js';
export * from './migrate/index.js';
