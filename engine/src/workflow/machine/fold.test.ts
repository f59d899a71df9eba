import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { CANCEL, completed, drive, failed, RUN_ID, running, start, T0_US } from '../testing/drive.js';
import { edge, planOf } from '../testing/plan-builder.js';
import { CASES } from '../testing/random-plan.js';
import {
  emptyRun,
  fold,
  NULL_VALUE,
  type ClosedStatus,
  type Entry,
  type RunFailure,
  type RunInput,
  type RunState,
} from './index.js';
import { STEP_TRANSITIONS } from './transitions.js';

const ERROR: RunFailure = { code: 'boom', message: '', step: 's', attempt: 1, retryable: true, stack: '' };
const STARTED: Entry = {
  ...{ kind: 'run_started', familySlug: 'f', version: 1, input: NULL_VALUE, attributes: {} },
  deadlineUs: null,
};
const CLOSED: Entry = { kind: 'run_closed', status: 'COMPLETED', output: null, error: null };
const EMPTY = emptyRun({ tenantId: 't', runId: RUN_ID });

function next(state: RunState, ...entries: readonly Entry[]): RunState {
  return fold(state, entries, { seq: state.seq + 1, atUs: Math.max(state.atUs, T0_US) });
}

describe('fold', () => {
  it('refuses rows that do not follow', () => {
    const state = next(EMPTY, STARTED);
    expect(() => fold(state, [], { seq: 3, atUs: T0_US })).toThrow(/journal-gap.*row 3 after 1/);
    expect(() => fold(state, [], { seq: 2, atUs: T0_US - 1 })).toThrow(/journal-time/);
    expect(fold(state, [], { seq: 2, atUs: T0_US })).toMatchObject({ seq: 2 });
  });

  it('of nothing changes number and time alone', () => {
    expect(next(EMPTY)).toEqual({ ...EMPTY, seq: 1, atUs: T0_US });
  });

  it('refuses a first attempt without input', () => {
    const entry: Entry = { kind: 'step_scheduled', path: 's', attempt: 1, input: null, startByUs: null };
    expect(() => next(EMPTY, STARTED, entry)).toThrow(/first-attempt/);
  });
});

/** One step in each of its states, the run going on, being cancelled, failing, parked or closed. */
function runs(): readonly RunState[] {
  const plan = planOf({
    steps: {
      s: { type: 'CALLBACK', retry: { maxAttempts: 2 } },
      other: { type: 'CALLBACK', retry: { maxAttempts: 1 } },
      wait: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + 1e6 },
      never: { type: 'CALLBACK' },
    },
    edges: [edge('other', 'never', 'FAILURE', () => false)],
  });
  const park: RunInput = { kind: 'park', code: 'x', message: '' };
  const ways: readonly (readonly RunInput[])[] = [
    [],
    [running('s', T0_US)],
    [failed('s')],
    [completed('s')],
    [failed('s', 1, { nonRetryable: true })],
    [running('s', T0_US), CANCEL],
    [failed('other')],
    [running('s', T0_US), failed('other')],
    [completed('s'), failed('other')],
    [CANCEL, completed('s'), completed('other')],
    [park],
    [failed('s'), park],
    [CANCEL, park],
  ];
  const driven = ways.map((inputs) => {
    const run = drive(plan);
    run.give(start());
    for (const input of inputs) run.give(input);
    return run.state;
  });
  return [EMPTY, ...driven];
}

const paths = fc.constantFrom('s', 'other', 'wait', 'never');
const attempts = fc.nat({ max: 2 });
const of = <T>(value: T): fc.Arbitrary<T> => fc.constant(value);

const entries: fc.Arbitrary<Entry> = fc.oneof(
  of(STARTED),
  fc.record({
    kind: of('step_scheduled' as const),
    path: paths,
    attempt: attempts,
    input: of({ kind: 'runInput' as const }),
    startByUs: fc.constantFrom(null, 9),
  }),
  fc.record({ kind: of('step_running' as const), path: paths, attempt: attempts, worker: of('w'), deadlineUs: of(9) }),
  fc.record({ kind: of('step_completed' as const), path: paths, attempt: attempts, output: of(NULL_VALUE) }),
  fc.record({
    kind: of('attempt_failed' as const),
    path: paths,
    attempt: attempts,
    error: of(ERROR),
    retryAtUs: of(9),
    progress: fc.constantFrom(null, NULL_VALUE),
  }),
  fc.record({ kind: of('step_failed' as const), path: paths, attempt: attempts, error: of(ERROR) }),
  fc.record({ kind: of('step_waiting' as const), path: paths, wakeAtUs: of(9) }),
  fc.record({ kind: of('step_skipped' as const), path: paths }),
  fc.record({ kind: of('step_cancelling' as const), path: paths, attempt: attempts, deadlineUs: of(9) }),
  fc.record({ kind: of('step_cancelled' as const), path: paths, attempt: attempts, abandoned: of(false) }),
  of<Entry>({ kind: 'cancel_requested', reason: '', requestedBy: '' }),
  of<Entry>({ kind: 'run_parked', code: '', message: '', step: '' }),
  of<Entry>({ kind: 'run_parked', code: '', message: '', step: 's' }),
  of<Entry>({ kind: 'run_paused', reason: '', requestedBy: '' }),
  of<Entry>({ kind: 'run_resumed', requestedBy: '' }),
  of<Entry>({ kind: 'run_ending', status: 'COMPLETED', output: null, error: null }),
  of<Entry>({ kind: 'run_ending', status: 'TIMED_OUT', output: null, error: ERROR }),
  of<Entry>({ kind: 'run_terminated', reason: '', requestedBy: '' }),
  of<Entry>({ kind: 'run_failing', error: ERROR }),
  fc
    .constantFrom<ClosedStatus>('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'TERMINATED')
    .map((status) => ({ ...CLOSED, status })),
);

const PAUSED: Entry = { kind: 'run_paused', reason: '', requestedBy: '' };

describe('M3 what is not in the table of transitions', () => {
  it('is refused as internal, and what is in it leaves a state that holds together', () => {
    const outcomes = { let: 0, refused: 0 };
    const property = fc.property(fc.constantFrom(...runs()), entries, (state, entry) => {
      try {
        const after = next(state, entry);
        outcomes.let += 1;
        expect(state.closedAtUs).toBeNull();
        const closes = after.closedAtUs !== null;
        if (closes) expect(after.steps.active + after.steps.waiting).toBe(0);
        if ('path' in entry && !('index' in entry)) {
          const from = state.steps.get(entry.path)?.status ?? 'PENDING';
          expect(STEP_TRANSITIONS[entry.kind]).toContain(from);
          expect(after.steps.get(entry.path)?.status).not.toBe(from);
        }
      } catch (caught) {
        if (!(caught instanceof DuctorError)) throw caught;
        outcomes.refused += 1;
        expect(caught.code).toBe('internal');
        expect(caught.message).toMatch(/^impossible state \[transition\]/);
      }
    });
    fc.assert(property, { ...CASES, numRuns: 4000 });
    expect(outcomes.let).toBeGreaterThan(300);
    expect(outcomes.refused).toBeGreaterThan(1000);
  });

  it.each<[string, readonly Entry[]]>([
    ['a second start', [STARTED, STARTED]],
    ['anything before the start', [{ kind: 'run_resumed', requestedBy: '' }]],
    ['a resume of a run that is not parked', [STARTED, { kind: 'run_resumed', requestedBy: '' }]],
    ['anything after the close', [STARTED, CLOSED, { kind: 'run_parked', code: '', message: '', step: '' }]],
    ['a close as TERMINATED that nobody asked for', [STARTED, { ...CLOSED, status: 'TERMINATED' }]],
    ['a close as TIMED_OUT before the time is over', [STARTED, { ...CLOSED, status: 'TIMED_OUT' }]],
    ['a pause of a run that is failing', [STARTED, { kind: 'run_failing', error: ERROR }, PAUSED]],
    ['a second pause', [STARTED, PAUSED, PAUSED]],
    ['a step that begins in a pause', [STARTED, PAUSED, { kind: 'step_waiting', path: 'w', wakeAtUs: 9 }]],
    ['a close as FAILED without a failure', [STARTED, { ...CLOSED, status: 'FAILED' }]],
    ['a close as CANCELLED without a request', [STARTED, { ...CLOSED, status: 'CANCELLED' }]],
    ['a close while a step waits', [STARTED, { kind: 'step_waiting', path: 'w', wakeAtUs: 9 }, CLOSED]],
    [
      'a second attempt before the first',
      [STARTED, { kind: 'step_scheduled', path: 's', attempt: 2, input: { kind: 'runInput' }, startByUs: null }],
    ],
    [
      'a step that begins in a run that is being cancelled',
      [
        STARTED,
        { kind: 'cancel_requested', reason: '', requestedBy: '' },
        { kind: 'step_waiting', path: 'w', wakeAtUs: 9 },
      ],
    ],
  ])('%s is refused', (_name, journal) => {
    expect(() => next(EMPTY, ...journal)).toThrow(/impossible state \[transition\]/);
  });
});
