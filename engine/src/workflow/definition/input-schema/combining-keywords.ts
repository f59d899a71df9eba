/** Keywords that combine schemas. */
import { childPath } from '../checking/problems.js';
import { isJsonObject } from '../checking/shape.js';
import { allOf, fail, silently, type Check } from './check.js';
import { refuse, type Keyword, type KeywordCompiler } from './keyword.js';

function schemaList(keyword: Keyword): readonly Check[] | undefined {
  const { context, path, value } = keyword;
  if (!Array.isArray(value) || value.length === 0) {
    return refuse(keyword, 'is not a list of at least one schema', 'List the schemas.');
  }
  return value.map((schema, index) => context.schema(childPath(path, index), schema));
}

/** Says why none of the alternatives fits; of a single one, what is wrong with it. */
function anyOf(checks: readonly Check[]): Check {
  const [only] = checks;
  if (only !== undefined && checks.length === 1) return only;
  return (visit, value, place) => {
    const reasons: string[] = [];
    for (const check of checks) {
      const trial = silently(visit);
      if (check(trial, value, place)) return true;
      reasons.push(trial.found[0] ?? place);
    }
    return fail(visit, place, `fits none of ${checks.length} alternatives (${reasons.slice(0, 5).join('; ')})`);
  };
}

function oneOf(checks: readonly Check[]): Check {
  const anyFits = anyOf(checks);
  return (visit, value, place) => {
    const count = checks.filter((check) => check(silently(visit), value, place)).length;
    if (count === 1) return true;
    if (count === 0) return anyFits(visit, value, place);
    return fail(visit, place, `fits ${count} alternatives of which exactly one is allowed`);
  };
}

/** A keyword with a list of schemas. */
function combining(combine: (checks: readonly Check[]) => Check): KeywordCompiler {
  return (keyword) => {
    const checks = schemaList(keyword);
    return checks === undefined ? undefined : combine(checks);
  };
}

function not({ context, path, value }: Keyword): Check {
  const check = context.schema(path, value);
  return (visit, found, place) =>
    !check(silently(visit), found, place) || fail(visit, place, 'fits the schema under "not"');
}

function condition({ context, path, value, siblings }: Keyword): Check {
  const base = path.slice(0, -'.if'.length);
  const branch = (name: 'then' | 'else'): Check => {
    const schema = siblings[name];
    return schema === undefined ? () => true : context.schema(childPath(base, name), schema);
  };
  const [test, onTrue, onFalse] = [context.schema(path, value), branch('then'), branch('else')];
  return (visit, found, place) => (test(silently(visit), found, place) ? onTrue : onFalse)(visit, found, place);
}

function branchOfIf(keyword: Keyword): undefined {
  if (keyword.siblings['if'] === undefined) refuse(keyword, 'has no effect without if', 'Add if, or remove it.');
}

function definitions(keyword: Keyword): undefined {
  const { context, path, value } = keyword;
  if (!isJsonObject(value)) return refuse(keyword, 'is not an object of schemas', 'Use an object: name to schema.');
  for (const [name, schema] of Object.entries(value)) context.schema(childPath(path, name), schema);
}

/** Keywords by name. */
export const COMBINING_KEYWORDS: Readonly<Record<string, KeywordCompiler>> = {
  allOf: combining(allOf),
  anyOf: combining(anyOf),
  oneOf: combining(oneOf),
  not,
  if: condition,
  then: branchOfIf,
  else: branchOfIf,
  $ref: (keyword) =>
    typeof keyword.value === 'string'
      ? keyword.context.reference(keyword.path, keyword.value)
      : refuse(keyword, 'is not a string', 'Use "#/$defs/name".'),
  $defs: definitions,
  definitions,
};
