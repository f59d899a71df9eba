/** The embedded PostgreSQL: binaries from npm, a launcher of our own. */
export { startEmbeddedPostgres, type EmbeddedOptions, type EmbeddedPostgres } from './start.js';
