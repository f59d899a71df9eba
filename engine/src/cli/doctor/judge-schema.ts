/** Judges schema, tables, indexes and plans. Pure. */
import type { Problem } from '../../kernel/index.js';
import type { MigrationState, PlanReport, TableReport } from '../../store/index.js';
import type { HotStatement, PartitionReport } from '../../workflow/index.js';
import { counted, fail, type Finding, ok, warn } from './finding.js';

/** More dead rows than this, and a larger share than DEAD_SHARE of all, are bloat. */
const DEAD_ROWS = 10_000;
const DEAD_SHARE = 0.2;
/** The engine makes partitions four weeks ahead. */
const WEEKS_WARN = 2;
const MIB = 1024 * 1024;
const LARGEST_SHOWN = 3;

/** Findings about migrations; null: there is no schema. */
export function judgeMigrations(state: MigrationState | null): Finding {
  const migrate = 'Run `ductor migrate`, or start an engine: it migrates by itself.';
  if (state === null) {
    return fail('schema.migrations', 'the database has no schema ductor', 'No engine can run on it yet.', migrate);
  }
  const { applied, pending, foreign } = state;
  if (pending.length > 0) {
    const found = `${counted(pending.length, 'migration')} pending: ${pending.join(', ')}`;
    return fail('schema.migrations', found, 'The schema is older than this engine.', migrate);
  }
  if (foreign.length > 0) {
    const found = `migrations of a newer engine: ${foreign.join(', ')}`;
    const meaning = 'This engine is older than the schema; it runs on it unless a migration says otherwise.';
    return warn('schema.migrations', found, meaning, 'Finish the upgrade of all nodes.');
  }
  return ok(
    'schema.migrations',
    `${counted(applied.length, 'migration')} applied, the last one ${applied.at(-1) ?? ''}`,
  );
}

/** Finding about row-level security; null: the wall stands. */
export function judgeTenantWall(problem: Problem | null): Finding {
  if (problem === null) return ok('schema.tenant_wall', 'row-level security is forced');
  const meaning = 'Tenants are kept apart by the conditions of the statements alone.';
  return warn('schema.tenant_wall', problem.problem, meaning, problem.remedy);
}

function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.round(bytes / MIB)} MiB`;
}

/** Findings about sizes and dead rows. */
export function judgeTables(tables: readonly TableReport[]): readonly Finding[] {
  const total = tables.reduce((sum, { tableBytes, indexBytes }) => sum + tableBytes + indexBytes, 0);
  const largest = tables
    .slice(0, LARGEST_SHOWN)
    .map(({ name, tableBytes, indexBytes }) => `${name} ${sizeText(tableBytes + indexBytes)}`);
  const bloated = tables.filter(
    ({ liveRows, deadRows }) => deadRows > DEAD_ROWS && deadRows > (liveRows + deadRows) * DEAD_SHARE,
  );
  return [
    ok('tables.size', `${sizeText(total)} in all; ${largest.join(', ')}`),
    ...(bloated.length === 0 ? [ok('tables.dead_rows', 'few everywhere')] : []),
    ...bloated.map(({ name, deadRows, liveRows, lastVacuumUs }) =>
      warn(
        'tables.dead_rows',
        `${name} has ${deadRows} dead rows beside ${liveRows} live ones, ` +
          (lastVacuumUs === null
            ? 'and was never vacuumed'
            : `vacuumed last ${new Date(lastVacuumUs / 1_000).toISOString()}`),
        'Statements read past dead rows: the table grows and becomes slow.',
        `vacuum (analyze) ductor.${name}; if it stays so, look for old transactions and let autovacuum do more.`,
      ),
    ),
  ];
}

/** Finding about indexes that a broken build left behind. */
export function judgeInvalidIndexes(names: readonly string[]): Finding {
  if (names.length === 0) return ok('indexes.valid', 'all');
  const meaning = 'The server keeps them up to date and does not use them.';
  return fail('indexes.valid', `not valid: ${names.join(', ')}`, meaning, `reindex index ductor.${names[0]};`);
}

/** Finding about the journal's partitions. */
export function judgePartitions({ weeksAhead, isDefaultUsed }: PartitionReport): Finding {
  const strays = isDefaultUsed ? ', and the default one holds rows' : '';
  const found = `${counted(weeksAhead, 'week')} from now have one${strays}`;
  if (weeksAhead >= WEEKS_WARN && !isDefaultUsed) return ok('tables.journal_partitions', found);
  return warn(
    'tables.journal_partitions',
    found,
    'Runs of a week without a partition go to the default one: correct, but they are not dropped as a whole later.',
    'select ductor.ensure_journal_partitions(4); a running engine does it every hour.',
  );
}

/** A hot statement with its plans. */
export interface ExplainedStatement extends Pick<HotStatement, 'name' | 'indexes' | 'isOfLane'> {
  /** Where scans are avoided: what can be. */
  readonly possible: PlanReport;
  /** As sessions outside commit lanes have it. */
  readonly usual: PlanReport;
}

/** Findings about plans. */
export function judgePlans(
  statements: readonly ExplainedStatement[],
  tables: readonly Pick<TableReport, 'name' | 'liveRows'>[],
): readonly Finding[] {
  // Partitions are of their tables' sizes at most; a table of a page or two is read from end to end for good reasons.
  const large = new Set(tables.filter(({ liveRows }) => liveRows > DEAD_ROWS).map(({ name }) => name));
  const findings = statements.flatMap(({ name, indexes, isOfLane, possible, usual }): Finding[] => {
    const unused = indexes.filter((index) => !possible.indexes.includes(index));
    if (unused.length > 0) {
      const found = `"${name}" does not use ${unused.join(', ')}`;
      const meaning = 'The index is missing or unusable: the statement reads whole tables, slower with every run.';
      const remedy = `Make the index again as engine/migrations has it: select to_regclass('ductor.${unused[0]}');`;
      return [fail('plans', found, meaning, remedy)];
    }
    const whole = usual.wholeTables.filter((table) => large.has(table));
    if (isOfLane || whole.length === 0) return [];
    const found = `"${name}" reads all of ${whole.join(', ')}`;
    return [warn('plans', found, 'The server believes that to be cheaper; its statistics may be old.', 'analyze;')];
  });
  return findings.length > 0 ? findings : [ok('plans', `${statements.length} statements go through their indexes`)];
}
