/**
 * The second stage: values by name that are worked out of the work alone, before anybody is looked at. Pure, so that a
 * replay works them out again; what they came to stands in the record for people.
 */
import { toJsonValue, type CelCompiler, type CelExpression } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import { ENRICHMENT_SCHEMA, MAX_VALUE_CHARS, type PoolConfig } from '../../pools/index.js';
import { inOneOrder } from '../core/routable.js';

/** An enrichment made ready. */
export interface Enricher {
  readonly name: string;
  /** Without its value the work goes to nobody. */
  readonly mustSucceed: boolean;
  /** What it reads by; undefined: it was stored before its kind was there, and fails. */
  readonly expression: CelExpression | undefined;
  /** Rows by key; undefined: the expression is the value. */
  readonly table: ReadonlyMap<string, unknown> | undefined;
}

/** What an enrichment brought. */
export interface Enriched {
  readonly name: string;
  /** JSON; absent when it failed. */
  readonly value?: unknown;
  /** Why it failed; absent when it did not. */
  readonly problem?: string;
}

/** What all of them brought. */
export interface Enrichments {
  readonly values: Readonly<Record<string, unknown>>;
  readonly brought: readonly Enriched[];
  /** One that must succeed did not. */
  readonly isMissing: boolean;
}

/** What a pool without enrichments knows. */
const NOT_ENRICHED: Enrichments = { values: {}, brought: [], isMissing: false };

function enricherOf(
  { name, on_error: onError, expr, key, table }: NonNullable<PoolConfig['enrichments']>[number],
  compiler: CelCompiler,
): Enricher {
  const mustSucceed = onError === 'fail';
  if (table !== undefined && key !== undefined) {
    const rows = Object.entries(table).map(([row, value]) => [row, inOneOrder(value)] as const);
    const expression = compiler.compile(key, ENRICHMENT_SCHEMA, 'string');
    return { name, mustSucceed, expression, table: new Map<string, unknown>(rows) };
  }
  const expression = expr === undefined ? undefined : compiler.compile(expr, ENRICHMENT_SCHEMA);
  return { name, mustSucceed, expression, table: undefined };
}

/** Makes the enrichments of a pool ready. */
export function enrichersOf(config: PoolConfig, compiler: CelCompiler): readonly Enricher[] {
  return (config.enrichments ?? []).map((each) => enricherOf(each, compiler));
}

function bring({ name, expression, table }: Enricher, scope: Readonly<Record<string, unknown>>): Enriched {
  if (expression === undefined) return { name, problem: 'it says neither an expression nor a table' };
  try {
    const found = expression.evaluate(scope);
    if (table === undefined) {
      const value = inOneOrder(toJsonValue(found));
      const { length } = JSON.stringify(value);
      return length > MAX_VALUE_CHARS
        ? { name, problem: `its value has ${length} characters as JSON` }
        : { name, value };
    }
    const row = String(found);
    return table.has(row) ? { name, value: table.get(row) } : { name, problem: 'its table has no such row' };
  } catch (caught) {
    // An expression that fails on these values is the pool's fault, not the engine's: the record says so.
    if (!(caught instanceof DuctorError) || !caught.code.startsWith('expression_')) throw caught;
    return { name, problem: caught.code };
  }
}

/**
 * Works them out, one after the other: each sees those before it.
 *
 * @param rules what expressions see of the work
 */
export function enrich(enrichers: readonly Enricher[], rules: Readonly<Record<string, unknown>>): Enrichments {
  if (enrichers.length === 0) return NOT_ENRICHED;
  const values: Record<string, unknown> = Object.create(null);
  const scope = { ...rules, enrichments: values };
  const brought: Enriched[] = [];
  let isMissing = false;
  for (const enricher of enrichers) {
    const one = bring(enricher, scope);
    brought.push(one);
    if (one.problem === undefined) values[one.name] = one.value;
    else isMissing ||= enricher.mustSucceed;
  }
  return { values, brought, isMissing };
}
