/** Three times what the database takes, on a clock of the test: what is let in is as fast as ever. */
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { CoordinatorKit, type TestNode } from '../testing/coordinator-kit.js';
import { sequence } from '../testing/plan-builder.js';

const STEP_MS = 10;
/** A commit takes one step and carries so many: what the node takes is 800 starts a second. */
const BATCH = 8;
const CAPACITY_PER_STEP = BATCH;
const STANDING_MS = 300;
const START_WAIT_MS = 30;

/** What came of the starts of a phase. */
interface Phase {
  readonly waitsMs: number[];
  readonly refused: DuctorError[];
}

let letGo = (): void => undefined;

/** From now on a call of the store is answered in the next step; returns what answers those of this one. */
function hold(node: TestNode): () => void {
  const before = letGo;
  node.hold = new Promise((resolve) => {
    letGo = resolve;
  });
  return before;
}

/** Asks for so many starts in each step, for so long. */
async function ask(kit: CoordinatorKit, node: TestNode, times: number, forMs: number): Promise<Phase> {
  const phase: Phase = { waitsMs: [], refused: [] };
  let owed = 0;
  for (let passedMs = 0; passedMs < forMs; passedMs += STEP_MS) {
    owed += CAPACITY_PER_STEP * times;
    for (; owed >= 1; owed -= 1) {
      const atMs = kit.clock.monotonicMs();
      node.coordinator.start(kit.request()).then(
        () => phase.waitsMs.push(kit.clock.monotonicMs() - atMs),
        (error: unknown) => phase.refused.push(DuctorError.from(error)),
      );
    }
    await kit.flush();
    kit.clock.advance(STEP_MS);
    hold(node)();
    await kit.flush();
  }
  return phase;
}

const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN;

describe('a node that is asked for three times what it can do', () => {
  it('answers what it takes as fast as ever, refuses the rest with a hint, and is itself again at once', async () => {
    const kit = new CoordinatorKit({ plans: [sequence('a')] });
    const node = kit.node({
      maxBatchRuns: BATCH,
      startWaitMs: START_WAIT_MS,
      leastWaitingStarts: 1,
      standingMs: STANDING_MS,
      calmMs: 1_000,
    });
    await kit.pass(2_000);
    hold(node);
    const normal = await ask(kit, node, 0.9, 3_000);
    const flood = await ask(kit, node, 3, 1_000);
    const over = await ask(kit, node, 3, 6_000);
    await ask(kit, node, 0.9, 2_000);
    const after = await ask(kit, node, 0.9, 3_000);
    console.log(
      `overload: normal p99 ${p99(normal.waitsMs)} ms; at three times ${over.waitsMs.length} let in, p99 ` +
        `${p99(over.waitsMs)} ms, ${over.refused.length} refused; two seconds after p99 ${p99(after.waitsMs)} ms`,
    );
    expect(normal.refused).toEqual([]);
    expect(flood.refused.length).toBeGreaterThan(0);
    expect(p99(over.waitsMs)).toBeLessThanOrEqual(2 * Math.max(START_WAIT_MS, p99(normal.waitsMs)));
    // Nearly all that the node can do is done, though it refuses.
    expect(over.waitsMs.length).toBeGreaterThan((6_000 / STEP_MS) * CAPACITY_PER_STEP * 0.9);
    for (const error of over.refused) {
      expect(error).toMatchObject({ code: 'limit_exceeded' });
      expect(error.retryAfterMs).toBeGreaterThanOrEqual(100);
    }
    expect(after.refused).toEqual([]);
    expect(p99(after.waitsMs)).toBeLessThanOrEqual(2 * p99(normal.waitsMs));
  });
});
