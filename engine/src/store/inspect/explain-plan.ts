/** How the server would run a statement. Nothing is run. */
import type { Prepared, Queryable, Result, Row, Transactor } from '../connect/index.js';

/** A plan, as far as it matters. */
export interface PlanReport {
  /** Indexes it goes through; those of partitions under their own names. */
  readonly indexes: readonly string[];
  /** Tables it reads from end to end, with the rows the server believes them to have. */
  readonly wholeTables: readonly string[];
}

/** A node of PostgreSQL's JSON. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

type PlanRow = Row & { readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] };

const NAME = 'ductor_explained';

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** A parameter as a literal; parameters of explain execute cannot be sent apart. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `'${text.replaceAll("'", "''")}'`;
}

/** Explains one statement with its generic plan. Settings last until the end of the transaction. */
async function explain(tx: Queryable, text: string, values: readonly unknown[], settings: string): Promise<PlanNode[]> {
  const nodes: PlanNode[] = [];
  await tx.query(`set local plan_cache_mode = force_generic_plan; ${settings}`);
  await tx.query(`prepare ${NAME} as ${text}`);
  const list = values.map(literal).join(', ');
  const call = list === '' ? NAME : `${NAME} (${list})`;
  const { rows } = await tx.query<PlanRow>(`explain (format json) execute ${call}`);
  await tx.query(`deallocate ${NAME}`);
  for (const { 'QUERY PLAN': plans } of rows) for (const { Plan } of plans) nodes.push(...nodesOf(Plan));
  return nodes;
}

/**
 * Plans of all statements that a call would send.
 *
 * @param send the call; what it sends is explained instead, and answered with no rows
 * @param avoidScans whether tables are read from end to end only where nothing else is possible: tells a missing index
 *   from one that the server finds not worth using
 */
export async function explainCall(
  db: Transactor,
  send: (db: Queryable) => Promise<unknown>,
  avoidScans: boolean,
): Promise<PlanReport> {
  const nodes: PlanNode[] = [];
  const settings = avoidScans ? 'set local enable_seqscan = off' : 'set local enable_seqscan = on';
  const explainer: Queryable = {
    async query<R extends Row>(statement: string | Prepared, values: readonly unknown[] = []): Promise<Result<R>> {
      const text = typeof statement === 'string' ? statement : statement.text;
      nodes.push(...(await db.transaction((tx) => explain(tx, text, values, settings))));
      return { rows: [], rowCount: 0 };
    },
  };
  await send(explainer);
  const named = (key: 'Index Name' | 'Relation Name', from: readonly PlanNode[]): string[] => [
    ...new Set(from.map((node) => node[key]).filter((name) => name !== undefined)),
  ];
  return {
    indexes: named('Index Name', nodes),
    wholeTables: named(
      'Relation Name',
      nodes.filter((node) => node['Node Type'] === 'Seq Scan'),
    ),
  };
}
