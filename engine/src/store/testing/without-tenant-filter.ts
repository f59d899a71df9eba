/**
 * A database whose statements for callers have lost their condition on the tenant, as if it had been forgotten in each
 * of them: what is then still hidden is hidden by row-level security alone.
 */
import { prepared, type Database, type Prepared, type Queryable, type Transactor } from '../connect/index.js';

const FILTER = /\b(?:\w+\.)?tenant_id = (\$\d+)(?:::uuid)?|\b\w+\.tenant_id = \w+\.tenant_id/g;
/** A condition of a statement for one tenant, without the g of replacements. */
const ONE_TENANT = /\btenant_id = \$\d/;

/** The name of a statement; of one without a name, how it begins. Names have a digest of the text behind them. */
function nameOf(statement: string | Prepared): string {
  if (typeof statement === 'string') return statement.slice(0, 40);
  return statement.name.replace(/_[0-9a-f]{8}$/, '');
}

function textOf(statement: string | Prepared): string {
  return typeof statement === 'string' ? statement : statement.text;
}

/** A transactor that does something about each statement. */
function through(db: Transactor, each: (statement: string | Prepared) => string | Prepared): Transactor {
  const on = (inner: Queryable): Queryable => ({
    query: (statement, values) => inner.query(each(statement), values),
  });
  return { ...on(db), transaction: (work) => db.transaction((tx) => work(on(tx))) };
}

/**
 * A transactor without the conditions.
 *
 * @param stripped gets the name of each statement that lost one
 */
export function withoutTenantFilter(db: Transactor, stripped: Set<string>): Transactor {
  return through(db, (statement) => {
    const text = textOf(statement);
    const bare = text.replace(FILTER, (_all, parameter?: string) =>
      parameter === undefined ? 'true' : `${parameter}::uuid is not null`,
    );
    if (bare !== text) stripped.add(nameOf(statement));
    return prepared('without_filter', bare);
  });
}

/**
 * The same database for the engine, and for callers one without the conditions.
 *
 * @param kept gets the name of each statement for one tenant on the engine's pool; its own are for many at once
 */
export function callersWithoutFilter(db: Database, stripped: Set<string>, kept: Set<string>): Database {
  const engine = through(db, (statement) => {
    if (ONE_TENANT.test(textOf(statement))) kept.add(nameOf(statement));
    return statement;
  });
  return {
    ...engine,
    connect: (options) => db.connect(options),
    close: () => db.close(),
    asTenant: (tenantId) => withoutTenantFilter(db.asTenant(tenantId), stripped),
  };
}
