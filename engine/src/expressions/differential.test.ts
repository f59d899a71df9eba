/**
 * Random programs, evaluated here and by @bufbuild/cel, an independent implementation that passes all of the core
 * conformance tests. Both must yield the same value, or both must fail. There are 2,000 in `npm test` and 60,000 in
 * CI's longer lane; DUCTOR_CEL_SEED says where to start. Mixed arithmetic is not generated: it is where we differ on
 * purpose.
 */
import * as oracle from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../kernel/index.js';
import { cases } from '../kernel/testing/test-length.js';
import { createCelCompiler, type CelSchema } from './index.js';
import { CelUint } from './values/values.js';

const PROGRAMS = cases(2_000, 60_000);
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

/** Makes well-typed programs, up to a depth. */
class Generator {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  program(depth: number): string {
    const kinds = [this.bool, this.bool, this.bool, this.int, this.text, this.double];
    return (kinds[this.#random.uint32() % kinds.length] ?? this.bool).call(this, depth);
  }

  private pick(...words: readonly string[]): string {
    return words[this.#random.uint32() % words.length] ?? '';
  }

  private oneOf(...makers: readonly (() => string)[]): string {
    return makers[this.#random.uint32() % makers.length]?.() ?? '';
  }

  private int(depth: number): string {
    const d = depth - 1;
    if (d < 0) return this.pick(...INTS);
    return this.oneOf(
      () => `(${this.int(d)} ${this.pick('+', '-', '*', '/', '%')} ${this.int(d)})`,
      () => `(${this.bool(d)} ? ${this.int(d)} : ${this.int(d)})`,
      () => `r.nums[${this.int(d)}]`,
      () => `int(${this.smallDouble(d)})`,
      () => `s.indexOf(${this.text(d)})`,
      () => `size(${this.text(d)})`,
      () => `[${this.int(d)}, ${this.int(d)}][${this.pick('0', '1')}]`,
      () => this.int(0),
    );
  }

  private smallDouble(depth: number): string {
    if (depth <= 0) return this.pick('0.5', 'r.score', 'r.amount', '-2.5', '0.0');
    return `(${this.smallDouble(depth - 1)} * 2.0)`;
  }

  private double(depth: number): string {
    const d = depth - 1;
    if (d < 0) return this.pick('0.5', 'r.score', 'r.amount', '1e300', '-2.5', '0.0');
    return this.oneOf(
      () => `(${this.double(d)} ${this.pick('+', '-', '*', '/')} ${this.double(d)})`,
      () => `double(${this.int(d)})`,
      () => `-${this.double(d)}`,
      () => this.double(0),
    );
  }

  private text(depth: number): string {
    const d = depth - 1;
    if (d < 0) return this.pick(...TEXTS);
    return this.oneOf(
      () => `(${this.text(d)} + ${this.text(d)})`,
      () => `${this.text(d)}.substring(${this.int(d)})`,
      () => `${this.text(d)}.${this.pick('lowerAscii', 'upperAscii', 'trim')}()`,
      () => `string(${this.int(d)})`,
      () => `${this.text(d)}.replace(${this.pick('"l"', '"ö"', 'r.state', '"a,"')}, ${this.text(0)})`,
      () => `${this.text(d)}.charAt(${this.int(0)})`,
      () => `r.tags.join(${this.text(0)})`,
      () => `${this.text(d)}.split(",")[0]`,
      () => this.text(0),
    );
  }

  private bool(depth: number): string {
    const d = depth - 1;
    if (d < 0) return this.pick(...BOOLS);
    const quantifier = this.pick('exists', 'all', 'exists_one');
    return this.oneOf(
      () => `(${this.bool(d)} && ${this.bool(d)})`,
      () => `(${this.bool(d)} || ${this.bool(d)})`,
      () => `!(${this.bool(d)})`,
      () => `(${this.int(d)} ${this.pick('<', '<=', '>', '>=', '==', '!=')} ${this.int(d)})`,
      () => `(${this.double(d)} ${this.pick('<', '>', '==', '!=')} ${this.double(d)})`,
      () => `(r.amount ${this.pick('<', '>', '==', '>=')} ${this.int(d)})`,
      () => `(${this.text(d)} ${this.pick('<', '==', '!=', '>=')} ${this.text(d)})`,
      () => `${this.text(d)}.${this.pick('startsWith', 'endsWith', 'contains')}(${this.text(d)})`,
      () => `${this.text(d)}.matches(${this.pick('"^T"', '"[a-z]+"', '"w.r"', '".*"', '"(a|b)*c$"')})`,
      () => `r.tags.${quantifier}(t, ${this.pick('t == "web"', 't.startsWith("s")', 'size(t) > 2')})`,
      () => `r.nums.${quantifier}(x, ${this.pick('x > 1', 'x / (x - 2) > 0', 'x == r.n')})`,
      () => `(r.nums.map(x, x * ${this.int(0)}) == [${this.int(0)}, 2, 4])`,
      () => `(${this.int(d)} in r.nums)`,
      () => `({"k": ${this.int(d)}}.k == ${this.int(0)})`,
      () => `(r.nums.filter(x, x > ${this.int(0)}).size() == ${this.int(0)})`,
      () => this.bool(0),
    );
  }
}

const INTS = ['1', '0', '-1', '7', '2', 'r.n', 'r.big', 'r.nested.a', '9223372036854775807', 'size(r.tags)', 'size(s)'];
const TEXTS = ['"TX"', 's', 'r.state', '""', '"wör"', 'r.tags[2]', 'r.nested.b', '"a,b,c"', "'it\\'s'", 'r"\\n"'];
const BOOLS = ['true', 'false', 'r.ok', 'has(r.zz)', 'has(r.state)', '"solar" in r.tags', 'r.zz == 1', '"n" in r'];

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
  it(`agrees on ${PROGRAMS} random programs`, { timeout: 300_000 }, () => {
    const compiler = createCelCompiler({ cacheSize: 10 });
    const environment = oracle.celEnv({ funcs: strings });
    const generator = new Generator(SEED);
    const different: string[] = [];
    let values = 0;
    for (let program = 0; program < PROGRAMS; program++) {
      const text = generator.program(3);
      const ours = outcome(() => compiler.compile(text, schema).evaluate(scope));
      const theirs = outcome(() => oracle.plan(environment, oracle.parse(text))(scope));
      if (ours !== theirs) different.push(`${text}: ours ${ours}, theirs ${theirs}`);
      else if (ours !== 'fails') values += 1;
    }
    expect(different.slice(0, 20)).toEqual([]);
    expect(values).toBeGreaterThan(PROGRAMS / 2);
  });
});
