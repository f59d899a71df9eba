/**
 * JSON Schema (2020-12) of a workflow's input: the keywords that docs/workflows.md lists, each of them really checked.
 * A keyword that is not in the tables is a problem, never ignored. Own code rather than zod's fromJSONSchema, which
 * ignores constraints without `type`, compares objects under `const` by identity and runs patterns in a backtracking
 * engine that one input can keep busy for ever.
 */
import type { ProblemSink } from '../checking/problems.js';
import { childPath } from '../checking/problems.js';
import { field, isJsonList, isJsonObject, jsonKind, type JsonObject } from '../checking/shape.js';
import type { Json } from '../definition.js';
import { didYouMean } from '../suggest.js';
import { allOf, fail, type Check } from './check.js';
import { COMBINING_KEYWORDS } from './combining-keywords.js';
import type { KeywordCompiler, SchemaContext } from './keyword.js';
import { LIST_KEYWORDS } from './list-keywords.js';
import { OBJECT_KEYWORDS } from './object-keywords.js';
import { VALUE_KEYWORDS } from './value-keywords.js';

const KEYWORDS: ReadonlyMap<string, KeywordCompiler> = new Map(
  [VALUE_KEYWORDS, LIST_KEYWORDS, OBJECT_KEYWORDS, COMBINING_KEYWORDS].flatMap((table) => Object.entries(table)),
);

/** Keywords that say something to people and tools and assert nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'id',
  'contentEncoding',
  'contentMediaType',
  '$comment',
]);

const DIALECTS = [
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
  'http://json-schema.org/draft-07/schema',
];

/** Keywords of the whole schema, allowed at its root. */
function checkRootKeyword(problems: ProblemSink, path: string, key: string, value: Json): boolean {
  if (key === '$id') return true;
  if (key !== '$schema') return false;
  if (typeof value === 'string' && DIALECTS.includes(value)) return true;
  problems.add(path, value, 'is not a dialect this version checks', `Use ${DIALECTS[0]}, or leave it out.`);
  return true;
}

function refuseKeyword(problems: ProblemSink, path: string, key: string, value: Json): void {
  const hint = didYouMean(key, [...KEYWORDS.keys(), ...ANNOTATIONS]);
  const remedy = `Remove it.${hint} docs/workflows.md lists the keywords; names that begin with x- are free.`;
  problems.add(path, value, `is not a keyword of JSON Schema that this version checks`, remedy);
}

/** Where a JSON pointer in a fragment (`#/$defs/lead`) leads; undefined when nowhere. */
function resolvePointer(root: Json, rootPath: string, pointer: string): { path: string; schema: Json } | undefined {
  let [path, at]: [string, Json | undefined] = [rootPath, root];
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const isList = isJsonList(at);
    if (isJsonList(at)) at = /^\d+$/.test(key) ? at[Number(key)] : undefined;
    else at = isJsonObject(at) ? field(at, key) : undefined;
    path = childPath(path, isList ? Number(key) : key);
  }
  return at === undefined ? undefined : { path, schema: at };
}

/** One definition of a schema being compiled. */
class Compilation implements SchemaContext {
  /** Each schema is compiled once; one that refers to itself finds its place here before its check is known. */
  readonly #compiled = new Map<JsonObject, { check: Check | undefined }>();

  constructor(
    readonly problems: ProblemSink,
    readonly root: JsonObject,
    readonly rootPath: string,
  ) {}

  readonly schema = (path: string, value: Json): Check => {
    if (value === true) return () => true;
    if (value === false) return (visit, _value, place) => fail(visit, place, 'is not allowed');
    if (!isJsonObject(value)) {
      const remedy = 'Use an object such as {"type": "string"}, true or false.';
      this.problems.add(path, value, `is ${jsonKind(value)}, not a schema`, remedy);
      return () => true;
    }
    const known = this.#compiled.get(value);
    const slot = known ?? { check: undefined };
    if (known === undefined) {
      this.#compiled.set(value, slot);
      const checks: Check[] = [];
      for (const [key, keywordValue] of Object.entries(value)) {
        const check = this.#keyword(childPath(path, key), key, keywordValue, path === this.rootPath, value);
        if (check !== undefined) checks.push(check);
      }
      slot.check = allOf(checks);
    }
    return (visit, found, place) => slot.check === undefined || slot.check(visit, found, place);
  };

  #keyword(path: string, key: string, value: Json, isRoot: boolean, siblings: JsonObject): Check | undefined {
    const compile = KEYWORDS.get(key);
    if (compile !== undefined) return compile({ context: this, path, value, siblings });
    if (ANNOTATIONS.has(key) || key.startsWith('x-')) return undefined;
    if (!(isRoot && checkRootKeyword(this.problems, path, key, value))) refuseKeyword(this.problems, path, key, value);
    return undefined;
  }

  readonly reference = (path: string, pointer: string): Check | undefined => {
    const target = /^#(?:\/|$)/.test(pointer)
      ? resolvePointer(this.root, this.rootPath, decodeFragment(pointer))
      : undefined;
    if (target !== undefined) return this.schema(target.path, target.schema);
    this.problems.add(path, pointer, 'names no schema', 'Refer to a schema inside this one: "#", "#/$defs/name".');
    return undefined;
  };
}

function decodeFragment(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

/**
 * Compiles a schema. What is wrong with it goes to the problems; the check is to be used only when nothing is.
 *
 * @param path where the schema stands, `input_schema`
 */
export function compileInputSchema(problems: ProblemSink, path: string, schema: JsonObject): Check {
  return new Compilation(problems, schema, path).schema(path, schema);
}
