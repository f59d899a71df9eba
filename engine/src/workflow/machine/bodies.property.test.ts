/** Scatters within scatters come to what a naive evaluator says, whatever the order in which their items end. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { completed, drive, failed, jsonOf, result, start } from '../testing/drive.js';
import { open } from '../testing/play.js';
import { edge, ITEM, outputOf, planOf, RUN_INPUT, type BodySpec } from '../testing/plan-builder.js';
import { CASES } from '../testing/random-plan.js';
import { isClosed, runOutput, taskOf, type Plan } from './index.js';
import type { FailedItems } from './plan.js';

/** A scatter and what collects it. */
interface Level {
  readonly maxParallel: number;
  readonly tolerated: number;
  readonly failed: FailedItems;
}

/** Items as deep as there are levels; the deepest are numbers, of which negative ones fail. */
type Item = number | readonly Item[];

interface Case {
  /** From the outermost one in, at least one. */
  readonly levels: readonly Level[];
  readonly items: readonly Item[];
  readonly onFailure: Plan['onFailure'];
  /** Which of the open attempts is answered next, in turn. */
  readonly picks: readonly number[];
}

const level: fc.Arbitrary<Level> = fc.record({
  maxParallel: fc.integer({ min: 1, max: 3 }),
  tolerated: fc.integer({ min: 0, max: 1 }),
  failed: fc.constantFrom('null', 'skip', 'error'),
});

function itemsOf(depth: number): fc.Arbitrary<readonly Item[]> {
  const item: fc.Arbitrary<Item> = depth === 1 ? fc.integer({ min: -3, max: 3 }) : itemsOf(depth - 1);
  return fc.array(item, { maxLength: 4 });
}

const cases: fc.Arbitrary<Case> = fc.array(level, { minLength: 1, maxLength: 3 }).chain((levels) =>
  fc.record({
    levels: fc.constant(levels),
    items: itemsOf(levels.length),
    onFailure: fc.constantFrom('drain', 'cancel'),
    picks: fc.array(fc.nat({ max: 99 }), { minLength: 1, maxLength: 20 }),
  }),
);

/** The steps of a level: a scatter over what is around it, and a gather. */
function stepsOf([outer, ...inner]: readonly Level[], depth: number): BodySpec {
  if (outer === undefined) {
    return { steps: { work: { type: 'CALLBACK', input: ITEM, retry: { maxAttempts: 1 } } }, output: outputOf('work') };
  }
  const [each, all] = [`each${depth}`, `all${depth}`];
  const { maxParallel, tolerated, failed: stands } = outer;
  const items = depth === 0 ? RUN_INPUT : ITEM;
  return {
    steps: {
      [each]: { type: 'SCATTER', items, maxParallel, tolerated, body: stepsOf(inner, depth + 1) },
      [all]: { type: 'GATHER', of: each, failed: stands },
    },
    edges: [edge(each, all)],
    output: outputOf(all),
  };
}

/** What an item comes to; undefined: it fails. */
function naive(item: Item, levels: readonly Level[]): { readonly output: unknown } | undefined {
  const [outer, ...inner] = levels;
  if (outer === undefined || typeof item === 'number')
    return Number(item) < 0 ? undefined : { output: Number(item) * 2 };
  const ends = item.map((each) => naive(each, inner));
  if (ends.filter((end) => end === undefined).length > outer.tolerated) return undefined;
  const instead = { null: [null], skip: [], error: [{ error: 'boom' }] }[outer.failed];
  return { output: ends.flatMap((end) => (end === undefined ? instead : [end.output])) };
}

/** Errors by their code alone: what they say is told by other tests. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || !('error' in value)) return value;
  const { error } = value;
  return { error: typeof error === 'object' && error !== null && 'code' in error ? error.code : error };
}

it('nested scatters come to what a naive evaluator says', () => {
  let [completedRuns, failedRuns] = [0, 0];
  const property = fc.property(cases, ({ levels, items, onFailure, picks }) => {
    const run = drive(planOf({ ...stepsOf(levels, 0), onFailure }));
    run.give(start(items));
    const most = levels.reduce((product, { maxParallel }) => product * maxParallel, 1);
    const given = new Map<string, number>();
    for (let turn = 0; !isClosed(run.state); turn += 1) {
      const works = open(run.state).filter(({ path }) => path.endsWith('/work'));
      expect(works.length).toBeGreaterThan(0);
      expect(works.length).toBeLessThanOrEqual(most);
      for (const { path } of works) {
        const task = taskOf(run.plan, run.state, path);
        if (task !== undefined) given.set(path, Number(jsonOf(task.input)));
      }
      const work = works[(picks[turn % picks.length] ?? 0) % works.length] ?? expect.unreachable();
      const item = given.get(work.path) ?? expect.unreachable();
      if (work.status === 'CANCELLING') run.give(result(work.path, 1, { kind: 'cancelled' }));
      else run.give(item < 0 ? failed(work.path) : completed(work.path, item * 2));
    }
    const expected = naive(items, levels);
    expect(run.state.status).toBe(expected === undefined ? 'FAILED' : 'COMPLETED');
    if (expected === undefined) failedRuns += 1;
    else {
      completedRuns += 1;
      expect(plain(jsonOf(runOutput(run.state)))).toEqual(expected.output);
    }
  });
  fc.assert(property, { ...CASES, numRuns: 1_000 });
  // Neither end is rare, or the property would say little.
  expect(Math.min(completedRuns, failedRuns)).toBeGreaterThan(200);
});
