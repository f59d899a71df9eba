/** Help for the tests of every room that needs a database. */
export { replaceDatabaseClock, type DatabaseClock } from './test-clock.js';
export {
  createTestDatabase,
  testDatabase,
  type CreatedDatabase,
  type CreateOptions,
  type TestDatabase,
} from './test-database.js';
export { withClient } from './test-server.js';
export { callersWithoutFilter, withoutTenantFilter } from './without-tenant-filter.js';
