/** Sessions with a database. */
export { checkServer, type ServerFacts } from './check-server.js';
export { checkTenantWall } from './check-tenant-wall.js';
export { classify, type Classified, type ErrorClass } from './classify.js';
export { openDatabase, type DatabaseOptions } from './database.js';
export { prepared } from './prepared.js';
export type {
  Connection,
  ConnectOptions,
  Database,
  Prepared,
  Queryable,
  Result,
  Row,
  TenantAccess,
  Transactor,
} from './types.js';
