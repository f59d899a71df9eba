/** Random inputs for properties: half of them meet an attempt that is open, the others are late, doubled or made up. */
import fc from 'fast-check';
import type { AttemptOutcome, RunInput, RunState, StepState } from '../machine/index.js';
import { jsonValue } from '../machine/index.js';
import { CANCEL, start, TERMINATE } from './drive.js';

/** A drawn action; becomes an input once it is known which attempts are open. */
export interface Act {
  /** Moves the clock first; it may go back. */
  readonly dtMs: number;
  readonly input: (state: RunState, nowUs: number) => RunInput;
}

const outcomes: fc.Arbitrary<AttemptOutcome> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom<unknown>(1, 'text', { deep: [true] }, null)
      .map((json) => ({ kind: 'completed' as const, output: jsonValue(json) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('json', 'cbor')
      .map((encoding) => ({ kind: 'completed' as const, output: { data: Uint8Array.of(0xff, 0x7b), encoding } })),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('failed' as const),
      code: fc.constantFrom('boom', 'fatal', 'worker_lost', ''),
      message: fc.constantFrom('it broke', 'ünïcode \u{1f6a6}'),
      stack: fc.constantFrom('', 'at line 1'),
      nonRetryable: fc.constantFrom(false, false, false, true),
      retryAfterMs: fc.constantFrom(null, null, 0, 1500, Number.MAX_SAFE_INTEGER),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancelled' as const }) },
);

/** An attempt: the n-th that is open, or a made-up one. */
type Aim = (state: RunState) => { readonly path: string; readonly attempt: number };

const madeUp = { path: 'ghost', attempt: 1 };

function isOpen({ status }: StepState): boolean {
  return status === 'SCHEDULED' || status === 'RUNNING' || status === 'CANCELLING';
}

const aims: fc.Arbitrary<Aim> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.nat({ max: 8 }).map((pick): Aim => (state) => {
      const open = [...state.steps.values()].filter(isOpen);
      return open[pick % Math.max(1, open.length)] ?? madeUp;
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ path: fc.constantFrom('s0', 's1', 's2', 's5', 'ghost', ''), attempt: fc.integer({ min: -1, max: 5 }) })
      .map(
        (aim): Aim =>
          () =>
            aim,
      ),
  },
);

type Draw = Act['input'];

const results = fc.tuple(aims, outcomes).map(([aim, outcome]): Draw => {
  return (state) => ({ kind: 'result', path: aim(state).path, attempt: aim(state).attempt, outcome });
});

const notes = fc
  .tuple(aims, fc.constantFrom('w1', 'w2', ''), fc.constantFrom(0, 60, 3000, -1e12, Number.NaN))
  .map(([aim, worker, agoMs]): Draw => (state, nowUs) => {
    const { path, attempt } = aim(state);
    return { kind: 'running', path, attempt, worker, startedAtUs: nowUs - agoMs * 1000 };
  });

/** Parts of work done, of this attempt or the one before: few names, so that some come twice. */
const parts = fc
  .tuple(aims, fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 0, 0, -1))
  .map(([aim, name, earlier]): Draw => (state) => {
    const { path, attempt } = aim(state);
    return { kind: 'sub_step', path, attempt: attempt + earlier, name, output: jsonValue({ of: attempt }) };
  });

const losses = aims.map((aim): Draw => (state) => {
  const { path, attempt } = aim(state);
  return { kind: 'lost', path, attempt };
});

const silences = aims.map((aim): Draw => (state) => {
  const { path, attempt } = aim(state);
  return { kind: 'silent', path, attempt };
});

/** The child of the n-th step that waits for one has ended, or one that nobody knows. */
const closings = fc
  .tuple(fc.nat({ max: 4 }), fc.constantFrom('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'TERMINATED'))
  .map(([pick, status]): Draw => (state) => {
    const waiting = [...state.steps.values()].filter(({ child, status: at }) => child !== null && at === 'WAITING');
    const step = waiting[pick % Math.max(1, waiting.length)];
    const output = status === 'COMPLETED' ? jsonValue({ of: 'the child' }) : null;
    const error = { code: 'boom', message: 'it broke', step: 's', attempt: 1, retryable: false, stack: '' };
    const runId = step?.child?.runId ?? 'nobody';
    const why = status === 'FAILED' || status === 'TIMED_OUT' ? error : null;
    return { kind: 'child_closed', path: step?.path ?? 'ghost', runId, status, output, error: why };
  });

/** Signals: names that steps wait for and one that none does; few ids, so that some come twice. */
const signals = fc
  .record({
    name: fc.constantFrom('ping', 'pong', 'review', 'nobody', null, null, null),
    id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
    by: fc.constantFrom('ada', 'bob', 'eve', ''),
    payload: fc
      .constantFrom<unknown>(7, null, { option: 'yes' }, { option: 'no', comment: 'sorry' }, { option: 'else' })
      .map((json) => jsonValue(json)),
  })
  .map((signal): Draw => (state) => {
    const awaited = [...state.steps.values()].find(({ awaits }) => awaits)?.awaits?.name;
    return { kind: 'signal', ...signal, name: signal.name ?? awaited ?? 'ping' };
  });

const plain =
  (input: RunInput): Draw =>
  () =>
    input;

const draws: fc.Arbitrary<Draw> = fc.oneof(
  { weight: 10, arbitrary: results },
  { weight: 5, arbitrary: notes },
  { weight: 3, arbitrary: parts },
  { weight: 4, arbitrary: closings },
  { weight: 2, arbitrary: losses },
  { weight: 8, arbitrary: fc.constant(plain({ kind: 'wake' })) },
  { weight: 1, arbitrary: fc.constant(plain(CANCEL)) },
  { weight: 1, arbitrary: fc.constant(plain({ kind: 'park', code: 'poison_commit', message: 'parked' })) },
  { weight: 2, arbitrary: fc.constant(plain({ kind: 'resume' })) },
  { weight: 1, arbitrary: fc.constant(plain({ kind: 'retry', requestedBy: 'someone' })) },
  { weight: 1, arbitrary: fc.constant(plain({ kind: 'pause', reason: 'hold on', requestedBy: 'someone' })) },
  { weight: 1, arbitrary: fc.boolean().map((rarely) => plain(rarely ? TERMINATE : { kind: 'wake' })) },
  { weight: 2, arbitrary: silences },
  { weight: 8, arbitrary: signals },
  { weight: 1, arbitrary: fc.constant(plain(start('again'))) },
);

/** Sequences of actions. */
export const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({ dtMs: fc.constantFrom(0, 0.001, 0.03, 1, 40, 1000, 6000, -500), input: draws }),
  { minLength: 1, maxLength: 40, size: 'max' },
);
