/** Drives one run through advance in tests; keeps its journal, and checks on every tick that it folds to the state. */
import type { Gate } from '../machine/inputs.js';
import { impossible } from '../../kernel/index.js';
import { decodeEntries, encodeEntries, type JournalRow } from '../journal/index.js';
import { CLOSED_GATE } from '../machine/tick.js';
import { advance, emptyRun, fold, jsonValue } from '../machine/index.js';
import type { Advance, AttemptOutcome, Command, Entry, Plan, RunInput, RunState, Value } from '../machine/index.js';
import { plainState } from './plain-state.js';

/** A run id of shard 0x57. */
export const RUN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** When driven runs begin: 2026-01-01T00:00:00Z. */
export const T0_US = 1_767_225_600_000_000;

/** A run that a test drives. */
export interface DrivenRun {
  readonly plan: Plan;
  readonly state: RunState;
  /** The test's clock; free to go back. */
  nowUs: number;
  /** Seed of the next tick. */
  seed: number;
  /** What attempts reported of their progress; nothing at first. */
  progressOf: (path: string, attempt: number) => Value | null;
  /** Decides what is granted; nothing at first. */
  gate: Gate;
  /** All entries so far, and the time of the row that held each. */
  readonly facts: readonly (Entry & { readonly atUs: number; readonly seq: number })[];
  readonly rows: readonly JournalRow[];
  /** One tick. */
  give(...inputs: readonly RunInput[]): Advance;
}

/** A run of the plan that has not started. */
export function drive(plan: Plan, tenantId = 'tenant'): DrivenRun {
  let state = emptyRun({ tenantId, runId: RUN_ID });
  const facts: (Entry & { readonly atUs: number; readonly seq: number })[] = [];
  const rows: JournalRow[] = [];
  const run: DrivenRun = {
    plan,
    get state() {
      return state;
    },
    nowUs: T0_US,
    seed: 1,
    progressOf: () => null,
    gate: CLOSED_GATE,
    facts,
    rows,
    give(...inputs) {
      const { nowUs, seed } = run;
      const result = advance(plan, state, inputs, {
        nowUs,
        seed,
        newId: () => RUN_ID,
        progressOf: run.progressOf,
        gate: run.gate,
      });
      if (result.entries.length > 0) {
        const { seq, atUs } = result.state;
        const row = { seq, atUs, entries: encodeEntries(result.entries) };
        checkFold(state, row, result.state);
        rows.push(row);
        facts.push(...result.entries.map((entry) => ({ ...entry, seq, atUs })));
      } else if (result.state !== state) impossible('test-drive', 'a tick without entries made another state');
      state = result.state;
      return result;
    },
  };
  return run;
}

/** M2, through the bytes of the row. Throws internal when the journal says something else than the state. */
function checkFold(before: RunState, row: JournalRow, after: RunState): void {
  const folded = JSON.stringify(plainState(fold(before, decodeEntries(row.entries), row)));
  const given = JSON.stringify(plainState(after));
  if (folded !== given) impossible('test-drive', `M2 does not hold: ${folded} is not ${given}`);
}

/** Starts a run with this input as JSON. */
export function start(input: unknown = null): RunInput {
  return { kind: 'start', input: jsonValue(input), attributes: {} };
}

/** A result of an attempt. */
export function result(path: string, attempt: number, outcome: AttemptOutcome): RunInput {
  return { kind: 'result', path, attempt, outcome };
}

/** The attempt completed with this output as JSON. */
export function completed(path: string, output: unknown = null, attempt = 1): RunInput {
  return result(path, attempt, { kind: 'completed', output: jsonValue(output) });
}

/** The attempt failed; code boom unless told otherwise. */
export function failed(
  path: string,
  attempt = 1,
  more: Partial<Extract<AttemptOutcome, { readonly kind: 'failed' }>> = {},
): RunInput {
  const usual = { code: 'boom', message: 'it broke', stack: '', nonRetryable: false, retryAfterMs: null };
  return result(path, attempt, { kind: 'failed', ...usual, ...more });
}

/** The attempt is on a worker since a time in microseconds. */
export function running(path: string, startedAtUs: number, attempt = 1, worker = 'w1'): RunInput {
  return { kind: 'running', path, attempt, worker, startedAtUs };
}

/** The end of the child that a step waits for; undefined when it waits for none. */
export function childClosed(
  state: RunState,
  path: string,
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMED_OUT' | 'TERMINATED' = 'COMPLETED',
  output: unknown = null,
): RunInput | undefined {
  const step = state.steps.get(path);
  if (step === undefined || step.child === null || step.status !== 'WAITING') return undefined;
  const { runId } = step.child;
  const isFailed = status === 'FAILED' || status === 'TIMED_OUT';
  const code = status === 'FAILED' ? 'boom' : 'run_timeout';
  const error = { code, message: 'it broke', step: 'of-child', attempt: 1, retryable: false, stack: '' };
  const end = { output: status === 'COMPLETED' ? jsonValue(output) : null, error: isFailed ? error : null };
  return { kind: 'child_closed', path, runId, status, ...end };
}

/** Lets all children of the run end: as they were told, or completed. */
export function closeChildren(run: DrivenRun): void {
  for (const { path, child } of [...run.state.steps.values()]) {
    const how = child?.told === 'terminate' ? 'TERMINATED' : child?.told === 'cancel' ? 'CANCELLED' : 'COMPLETED';
    const input = childClosed(run.state, path, how);
    if (input !== undefined) run.give(input);
  }
}

/** A request to end the run. */
export const CANCEL: RunInput = { kind: 'cancel', reason: 'enough', requestedBy: 'someone' };

/** A request to end the run at once. */
export const TERMINATE: RunInput = { kind: 'terminate', reason: 'now', requestedBy: 'someone' };

/** A request to pause the run. */
export const PAUSE: RunInput = { kind: 'pause', reason: 'hold on', requestedBy: 'someone' };

/** A request to go on. */
export const RESUME: RunInput = { kind: 'resume', requestedBy: 'someone' };

/** A request to try a parked run's step again. */
export const RETRY: RunInput = { kind: 'retry', requestedBy: 'someone' };

/** Time has passed. */
export const WAKE: RunInput = { kind: 'wake' };

/** Entries as short words: `step_failed a 2`. */
export function words(entries: readonly Entry[]): readonly string[] {
  return entries.map((entry) =>
    [entry.kind, 'path' in entry ? entry.path : '', 'attempt' in entry ? entry.attempt : '']
      .filter((part) => part !== '')
      .join(' '),
  );
}

/** Commands as short words: `abort a 1 timed_out`. */
export function orders(commands: readonly Command[]): readonly string[] {
  return commands.map((command) =>
    [command.kind, command.path, command.attempt, ...('reason' in command ? [command.reason] : [])].join(' '),
  );
}

/** Status of every step that was reached, by path. */
export function statuses(state: RunState): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from(state.steps.values(), ({ path, status }) => [path, status]));
}

/** A value's JSON. */
export function jsonOf(value: Value | null): unknown {
  return value === null ? undefined : JSON.parse(Buffer.from(value.data).toString('utf8'));
}
