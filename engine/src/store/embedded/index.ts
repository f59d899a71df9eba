/** The embedded PostgreSQL: binaries from npm, a launcher of our own. */
export type { EmbeddedOptions } from './place.js';
export { startEmbeddedPostgres, type EmbeddedPostgres } from './start.js';
