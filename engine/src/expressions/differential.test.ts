/**
 * Random programs, evaluated here and by @bufbuild/cel, an independent implementation that passes all of the core
 * conformance tests. Both must yield the same value, or both must fail. DUCTOR_CEL_PROGRAMS sets how many (default 3,000),
 * DUCTOR_CEL_SEED where to start. Mixed arithmetic is not generated: it is where we differ on purpose.
 */
import * as oracle from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../kernel/index.js';
import { createCelCompiler, type CelSchema } from './index.js';
import { CelUint } from './values/values.js';

const PROGRAMS = Number(process.env['DUCTOR_CEL_PROGRAMS'] ?? '3000');
const SEED = Number(process.env['DUCTOR_CEL_SEED'] ?? '1');

const scope = {
  r: {
    state: 'TX',
    amount: 7200,
    score: 0.8,
    n: 5n,
    big: 9007199254740993n,
    tags: ['solar', 'web', 'é'],
    nested: { a: 1n, b: 'x', z: null },
    ok: true,
    empty: [],
    nums: [3n, 1n, 2n],
  },
  s: 'Hello wörld',
};
const schema: CelSchema = { id: 'differential', variables: { r: 'dyn', s: 'dyn' } };

type Make = (depth: number) => string;

/** Makes well-typed programs: booleans, ints, doubles and texts up to a depth. */
function createGenerator(seed: number): Make {
  const random = seededRandom(seed);
  const pick = <T>(first: T, ...others: readonly T[]): T => {
    const all = [first, ...others];
    return all[random.uint32() % all.length] ?? first;
  };
  const int: Make = (depth) =>
    depth <= 0
      ? pick('1', '0', '-1', '7', 'r.n', 'r.big', 'r.nested.a', '9223372036854775807', '2', 'size(r.tags)', 'size(s)')
      : pick<() => string>(
          () => `(${int(depth - 1)} ${pick('+', '-', '*', '/', '%')} ${int(depth - 1)})`,
          () => `(${bool(depth - 1)} ? ${int(depth - 1)} : ${int(depth - 1)})`,
          () => `r.nums[${int(depth - 1)}]`,
          () => `int(${smallDouble(depth - 1)})`,
          () => `s.indexOf(${text(depth - 1)})`,
          () => `size(${text(depth - 1)})`,
          () => `[${int(depth - 1)}, ${int(depth - 1)}][${pick('0', '1')}]`,
          () => int(0),
        )();
  const smallDouble: Make = (depth) =>
    depth <= 0 ? pick('0.5', 'r.score', 'r.amount', '-2.5', '0.0') : `(${smallDouble(depth - 1)} * 2.0)`;
  const double: Make = (depth) =>
    depth <= 0
      ? pick('0.5', 'r.score', 'r.amount', '1e300', '-2.5', '0.0')
      : pick<() => string>(
          () => `(${double(depth - 1)} ${pick('+', '-', '*', '/')} ${double(depth - 1)})`,
          () => `double(${int(depth - 1)})`,
          () => `-${double(depth - 1)}`,
          () => double(0),
        )();
  const text: Make = (depth) =>
    depth <= 0
      ? pick('"TX"', 's', 'r.state', '""', '"wör"', 'r.tags[2]', 'r.nested.b', '"a,b,c"', "'it\\'s'", 'r"\\n"')
      : pick<() => string>(
          () => `(${text(depth - 1)} + ${text(depth - 1)})`,
          () => `${text(depth - 1)}.substring(${int(depth - 1)})`,
          () => `${text(depth - 1)}.${pick('lowerAscii', 'upperAscii', 'trim')}()`,
          () => `string(${int(depth - 1)})`,
          () => `${text(depth - 1)}.replace(${pick('"l"', '"ö"', 'r.state', '"a,"')}, ${text(0)})`,
          () => `${text(depth - 1)}.charAt(${int(0)})`,
          () => `r.tags.join(${text(0)})`,
          () => `${text(depth - 1)}.split(",")[0]`,
          () => text(0),
        )();
  const bool: Make = (depth) =>
    depth <= 0
      ? pick('true', 'false', 'r.ok', 'has(r.zz)', 'has(r.state)', '"solar" in r.tags', 'r.zz == 1', '"n" in r')
      : pick<() => string>(
          () => `(${bool(depth - 1)} && ${bool(depth - 1)})`,
          () => `(${bool(depth - 1)} || ${bool(depth - 1)})`,
          () => `!(${bool(depth - 1)})`,
          () => `(${int(depth - 1)} ${pick('<', '<=', '>', '>=', '==', '!=')} ${int(depth - 1)})`,
          () => `(${double(depth - 1)} ${pick('<', '>', '==', '!=')} ${double(depth - 1)})`,
          () => `(r.amount ${pick('<', '>', '==', '>=')} ${int(depth - 1)})`,
          () => `(${text(depth - 1)} ${pick('<', '==', '!=', '>=')} ${text(depth - 1)})`,
          () => `${text(depth - 1)}.${pick('startsWith', 'endsWith', 'contains')}(${text(depth - 1)})`,
          () => `${text(depth - 1)}.matches(${pick('"^T"', '"[a-z]+"', '"w.r"', '".*"', '"(a|b)*c$"')})`,
          () =>
            `r.tags.${pick('exists', 'all', 'exists_one')}(t, ${pick('t == "web"', 't.startsWith("s")', 'size(t) > 2')})`,
          () => `r.nums.${pick('exists', 'all', 'exists_one')}(x, ${pick('x > 1', 'x / (x - 2) > 0', 'x == r.n')})`,
          () => `(r.nums.map(x, x * ${int(0)}) == [${int(0)}, 2, 4])`,
          () => `(${int(depth - 1)} in r.nums)`,
          () => `({"k": ${int(depth - 1)}}.k == ${int(0)})`,
          () => `(r.nums.filter(x, x > ${int(0)}).size() == ${int(0)})`,
          () => bool(0),
        )();
  return (depth) => pick(bool, bool, bool, int, text, double)(depth);
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return `int ${value}`;
  if (typeof value === 'number') return `double ${Object.is(value, -0) ? 0 : value}`;
  if (value instanceof CelUint) return `uint ${value.value}`;
  if (oracle.isCelList(value)) return [...value].map(canonical);
  return Array.isArray(value) ? value.map(canonical) : value;
}

/** The value as text, or `fails`. */
function outcome(run: () => unknown): string {
  try {
    const value = run();
    return oracle.isCelError(value) ? 'fails' : JSON.stringify(canonical(value));
  } catch {
    return 'fails';
  }
}

describe('against an independent implementation', () => {
  it(`agrees on ${PROGRAMS} random programs`, () => {
    const compiler = createCelCompiler({ cacheSize: 10 });
    const environment = oracle.celEnv({ funcs: strings });
    const generate = createGenerator(SEED);
    const different: string[] = [];
    let values = 0;
    for (let program = 0; program < PROGRAMS; program++) {
      const text = generate(3);
      const ours = outcome(() => compiler.compile(text, schema).evaluate(scope));
      const theirs = outcome(() => oracle.plan(environment, oracle.parse(text))(scope));
      if (ours !== theirs) different.push(`${text}: ours ${ours}, theirs ${theirs}`);
      else if (ours !== 'fails') values += 1;
    }
    expect(different.slice(0, 20)).toEqual([]);
    expect(values).toBeGreaterThan(PROGRAMS / 2);
  });
});
