/** The operations of STEP_TYPE_DATAFLOW as a definition says them: over the items of a list, or over whole values. */
import { bodyVariable } from './bodies.js';
import type { Aggregations, Assertion, OfItem, SortKeys } from './dataflow-types.js';
import { DefinitionError } from './definition-error.js';
import { type Ref, type StepRead, referenceCore } from './reference.js';
import { compileTemplate, type CompiledTemplate, type TemplateJson } from './template.js';

/** The args of an operation, and what it reads. */
export interface DataflowJson {
  readonly args: { readonly [key: string]: TemplateJson };
  readonly reads: readonly StepRead[];
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'count',
  'any',
  'all',
  'sum',
  'avg',
  'min',
  'max',
  'first',
  'last',
  'collect',
]);

/** A compiled object. */
interface CompiledFields extends CompiledTemplate {
  readonly json: { [key: string]: TemplateJson };
}

/** One expression: a reference, or a plain value that is no object. Throws DefinitionError. */
function expression(value: unknown, what: string): CompiledTemplate {
  if (referenceCore(value) !== undefined || value === null || typeof value !== 'object') {
    return compileTemplate(value, what);
  }
  throw new DefinitionError(`${what} is an object or list`, 'pass one reference, or make it with w.map before');
}

/** A condition. Throws DefinitionError. */
function condition(value: unknown, what: string): CompiledTemplate {
  if (referenceCore(value) !== undefined) return compileTemplate(value, what);
  throw new DefinitionError(`${what} is no condition`, 'compare something: item.score.gt(0.5)');
}

/** A text as it stands, a reference as what computes it. Throws DefinitionError. */
function literal(value: unknown, what: string): CompiledTemplate {
  const core = referenceCore(value);
  if (core !== undefined) return { json: { expr: core.cel }, reads: core.reads };
  if (typeof value === 'string') return { json: value, reads: [] };
  throw new DefinitionError(`${what} is no text`, 'pass a text, or a reference to one');
}

/** What a function says of an item. Throws DefinitionError when it reads an item that its own one hides. */
function ofItem<E, X>(name: string, say: OfItem<E, X>, compile: (said: X) => CompiledTemplate): CompiledTemplate {
  const compiled = compile(say(bodyVariable<E>('item', name), bodyVariable<number>('index', name)));
  const hidden = compiled.reads.find(({ ref, what }) => what === 'item' && ref !== name);
  if (hidden === undefined) return { ...compiled, reads: compiled.reads.filter(({ what }) => what !== 'item') };
  throw new DefinitionError(
    `step ${name} reads the item or index of ${hidden.ref} where its own items hide it`,
    `keep it in a step before, const own = w.project("own", item), and read own.output`,
  );
}

/** Several compiled values as one list. Throws DefinitionError when there is none. */
function several(values: readonly CompiledTemplate[], what: string): CompiledTemplate {
  if (values.length === 0) throw new DefinitionError(`${what} is an empty list`, 'pass at least one');
  return { json: values.map(({ json }) => json), reads: values.flatMap(({ reads }) => reads) };
}

/** Fields of an object; those that are undefined stay away. */
function fields(values: Readonly<Record<string, CompiledTemplate | undefined>>): CompiledFields {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    json: Object.fromEntries(given.map(([name, { json }]) => [name, json])),
    reads: given.flatMap(([, { reads }]) => reads),
  };
}

function overList(
  name: string,
  operation: string,
  items: unknown,
  more: Readonly<Record<string, CompiledTemplate | undefined>>,
): DataflowJson {
  const list = referenceCore(items);
  if (list === undefined) throw new DefinitionError(`${name} goes over no list`, 'pass a reference: w.input.leads');
  const { json, reads } = fields(more);
  return { args: { operation, source: list.cel, ...json }, reads: [...list.reads, ...reads] };
}

/** Keeps items. Throws DefinitionError, as all here. */
export function filterJson<E>(name: string, items: unknown, keep: OfItem<E, Ref<boolean>>): DataflowJson {
  const filter = ofItem(name, keep, (said) => condition(said, `step ${name}: what filters`));
  return overList(name, 'filter', items, { filter });
}

/** Makes one value of each item, or with flat_map a list. */
export function mapJson<E, X>(
  name: string,
  operation: 'map' | 'flat_map',
  items: unknown,
  make: OfItem<E, X>,
): DataflowJson {
  const made = ofItem(name, make, (said) => compileTemplate(said, `step ${name}: value of an item`));
  return overList(name, operation, items, { [operation]: made });
}

/** Orders items. */
export function sortJson<E>(name: string, items: unknown, by: OfItem<E, SortKeys>): DataflowJson {
  const key = (value: unknown, what: string): CompiledTemplate => {
    if (referenceCore(value) !== undefined) return fields({ by: expression(value, what) });
    if (typeof value !== 'object' || value === null || !('by' in value) || referenceCore(value.by) === undefined) {
      throw new DefinitionError(`${what} is no key`, 'pass item.score, or { by: item.score, order: "desc" }');
    }
    const order = 'order' in value && value.order !== undefined ? literal(value.order, `${what}: order`) : undefined;
    return fields({ by: expression(value.by, what), order });
  };
  const sort = ofItem(name, by, (said) => {
    const keys: readonly unknown[] = Array.isArray(said) ? said : [said];
    return several(
      keys.map((value, index) => key(value, `step ${name}: key ${index}`)),
      `step ${name}: keys`,
    );
  });
  return overList(name, 'sort', items, { sort });
}

/** Keeps one item per key. */
export function dedupeJson<E, X>(name: string, items: unknown, by: OfItem<E, X>, keep: unknown): DataflowJson {
  const dedupe = ofItem(name, by, (said) => compileTemplate(said, `step ${name}: key`));
  return overList(name, 'dedupe', items, {
    dedupe,
    keep: keep === undefined ? undefined : literal(keep, `step ${name}: keep`),
  });
}

/** One result of an aggregate. */
function aggregation(value: unknown, what: string): CompiledTemplate {
  const [first, ...others] = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (first === undefined || others.length > 0 || !FUNCTIONS.has(first[0])) {
    throw new DefinitionError(
      `${what} is not one function`,
      `use one of ${[...FUNCTIONS].join(', ')}: { sum: item.n }`,
    );
  }
  return fields({ [first[0]]: expression(first[1], `${what}.${first[0]}`) });
}

/** Sums items up, by group where there is `groupBy`. */
export function aggregateJson<E>(
  name: string,
  items: unknown,
  results: OfItem<E, Aggregations>,
  groupBy: OfItem<E, unknown> | undefined,
): DataflowJson {
  const aggregate = ofItem(name, results, (said) => {
    const entries = Object.entries(said);
    if (entries.length === 0) throw new DefinitionError(`step ${name} has no results`, '{ total: { sum: item.n } }');
    if (groupBy !== undefined && Object.hasOwn(said, 'group')) {
      throw new DefinitionError(`step ${name}: group is the name of the key of a group`, 'rename the result');
    }
    const compiled = entries.map(([key, value]) => [key, aggregation(value, `step ${name}: ${key}`)] as const);
    return fields(Object.fromEntries(compiled));
  });
  const key =
    groupBy === undefined ? undefined : ofItem(name, groupBy, (said) => compileTemplate(said, `step ${name}: groupBy`));
  return overList(name, 'aggregate', items, { group_by: key, aggregate });
}

/** Joins values. */
export function mergeJson(name: string, parts: readonly unknown[], mode: string | undefined): DataflowJson {
  const merge = several(
    parts.map((part, index) => compileTemplate(part, `step ${name}: part ${index}`)),
    `step ${name}: parts`,
  );
  return { args: { operation: 'merge', merge: merge.json, ...(mode !== undefined && { mode }) }, reads: merge.reads };
}

/** Fails unless all conditions hold. */
export function assertJson(name: string, assertions: readonly Assertion[]): DataflowJson {
  const entries = assertions.map(({ that, message }, index) =>
    fields({
      that: condition(that, `step ${name}: assertion ${index}`),
      message: message === undefined ? undefined : literal(message, `step ${name}: message ${index}`),
    }),
  );
  const { json, reads } = several(entries, `step ${name}: assertions`);
  return { args: { operation: 'assert', assert: json }, reads };
}
