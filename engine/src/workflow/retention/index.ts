/** Retention: how long runs are kept, and what removes them afterwards. */
export { createJanitor, type Janitor, type JanitorReport } from './janitor.js';
export { RETENTION_MS } from './limits.js';
