/** What is true of a database, for people who look after it. Everything here only reads. */
export { explainCall, type PlanReport } from './explain-plan.js';
export {
  readInvalidIndexes,
  readMigrationState,
  readTableReport,
  type MigrationState,
  type TableReport,
} from './schema-report.js';
export { readServerReport, type ServerReport } from './server-report.js';
