/** The schema and its migrations. */
export { migrate, type MigrateOptions, type MigrationProgress, type MigrationReport } from './migrate.js';
