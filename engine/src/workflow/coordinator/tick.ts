/**
 * One tick of one run: inputs in, a write for the batch out. Changes nothing but takes the inputs off the cell.
 *
 * What may come out:
 * - a step forward: `next` is the state after the commit;
 * - a consumption: the machine ignored everything, but somebody waits for an answer or a mailbox row has to go. It
 *   goes through the commit, too: an answer "already settled" is true only while the fence holds;
 * - nothing: all was ignored and nobody waits.
 */
import { createHash } from 'node:crypto';
import type { Clock, Random, Writable } from '../../kernel/index.js';
import type { Advance, Command, Disposition, Gate, MachineContext } from '../machine/inputs.js';
import type { RunInput } from '../machine/inputs.js';
import type { Plan } from '../machine/plan.js';
import type { RunState } from '../machine/state.js';
import { AskingGate, type GateAsked } from './asking-gate.js';
import type { Heartbeats } from './heartbeats.js';
import { outgoing } from './outgoing.js';
import { runKeyAsStartKey, type Successor, type TickWrite } from './ports.js';
import {
  advance,
  encodeEntries,
  encodeSnapshot,
  headerChanged,
  headerOf,
  isContinued,
  payloadSink,
  snapshotDue,
} from './run-logic.js';
import { forget, isBirth, type PendingInput, type RunCell } from './run-cell.js';

/** A tick that is ready to be committed. */
export interface Tick {
  readonly cell: RunCell;
  /** What it took from the cell, in order. */
  readonly inputs: readonly PendingInput[];
  /** One per input. */
  readonly dispositions: readonly Disposition[];
  /** State after the commit; null for a consumption. */
  readonly next: RunState | null;
  readonly commands: readonly Command[];
  readonly write: TickWrite;
  /** Size that counts against the batch. */
  readonly bytes: number;
  /** What it touches besides its run, and how it is computed once that is locked; null: nothing. */
  readonly gated: { readonly asked: GateAsked; readonly compute: (gate: Gate) => TickResult } | null;
  /** The coordinator parks the run by this tick; inputs that it took besides the offender go back to the cell. */
  readonly parks: (ParkReason & { readonly others: readonly PendingInput[] }) | null;
}

/** Why, and in which words. */
export interface ParkReason {
  readonly code: ParkCode;
  readonly message: string;
}

/** Why the coordinator itself parks a run. */
export type ParkCode = 'machine_error' | 'poison_commit' | 'engine_crash';

/** What varies. */
export interface TickEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: MachineContext['newId'];
  readonly maxInputs: number;
  readonly maxBytes: number;
  /** Values beyond this size stand in payloads, bytes. */
  readonly payloadBytes: number;
  readonly heartbeats: Heartbeats;
}

const NO_BYTES = new Uint8Array(0);
const NONE: readonly number[] = [];
/** Bytes a tick costs besides its entries. */
const ROW_BYTES = 64;

function contextOf(env: TickEnvironment, cell: RunCell, gate: Gate, current = cell.current): MachineContext {
  const { clock, random, newId, heartbeats } = env;
  const nowUs = clock.nowUs() - clock.errorUs();
  const seed = random.uint32();
  const context: MachineContext =
    current === null ? { nowUs, seed, newId, gate } : { nowUs, seed, newId, gate, current };
  if (heartbeats.isEmpty) return context;
  const { tenantId, runId } = cell;
  return { ...context, progressOf: (path, attempt) => heartbeats.progressOf({ tenantId, runId, path, attempt }) };
}

/** Whether somebody may hold us to messages of the run: to those of a chain also where its last version takes none. */
function mayHaveMail({ plan }: RunCell, { chain }: RunState): boolean {
  return plan?.receives === true || chain !== null;
}

function inputBytes(input: RunInput): number {
  if (input.kind === 'start') return input.input.data.byteLength;
  if (input.kind === 'sub_step') return input.output.data.byteLength;
  return input.kind === 'result' && input.outcome.kind === 'completed' ? input.outcome.output.data.byteLength : 0;
}

/** Takes the inputs of the next tick off the cell: at least one, within the limits. */
function takeInputs(cell: RunCell, env: TickEnvironment): readonly PendingInput[] {
  const limit = cell.isOneByOne ? 1 : cell.takesAll ? Number.POSITIVE_INFINITY : env.maxInputs;
  let count = 0;
  let bytes = 0;
  for (const pending of cell.inputs) {
    bytes += inputBytes(pending.input);
    if (count > 0 && (count >= limit || (bytes > env.maxBytes && !cell.takesAll))) break;
    count += 1;
  }
  const taken = count === cell.inputs.length ? cell.inputs : cell.inputs.slice(0, count);
  cell.inputs = count === cell.inputs.length ? [] : cell.inputs.slice(count);
  return taken;
}

/** Mailbox rows among the inputs. */
function consumedBy(inputs: readonly PendingInput[]): readonly number[] {
  let ids: number[] | null = null;
  for (const { inboxId } of inputs) if (inboxId !== null) (ids ??= []).push(inboxId);
  return ids ?? NONE;
}

/** The run that continues the one that ends, as it is written. */
function successorOf({ entries, state }: NonNullable<Advance['successor']>, payloadBytes: number): Successor {
  const sink = payloadSink(state.runId, payloadBytes);
  const bytes = encodeEntries(entries, sink);
  return { runId: state.runId, entries: bytes, header: headerOf(state), payloads: [...sink.writes.values()] };
}

/** Bytes of what is written beside entries and snapshot. */
function sideBytes({ payloads = [], messages = [], successor }: TickWrite): number {
  const own = successor === undefined ? 0 : ROW_BYTES + successor.entries.byteLength;
  const moved = [...payloads, ...(successor?.payloads ?? [])].reduce((sum, { data }) => sum + data.byteLength, own);
  return messages.reduce((sum, { body }) => sum + body.byteLength, moved);
}

/** Whether its chain ends by a row that is not its first one. */
function endsItsChain({ closedAtUs, seq, status }: RunState): boolean {
  return closedAtUs !== null && seq !== 1 && status !== 'CONTINUED';
}

/** What a tick that the machine computed comes to. Written for speed: once for each step of each run. */
function stepForward(
  cell: RunCell,
  before: RunState,
  inputs: readonly PendingInput[],
  dispositions: readonly Disposition[],
  result: Advance,
  parks: Tick['parks'],
  payloadBytes: number,
): Tick {
  const { state: next, commands } = result;
  const sink = payloadSink(cell.runId, payloadBytes);
  const entries = encodeEntries(result.entries, sink);
  const isDue = next.closedAtUs === null && snapshotDue(cell.journalBytes + entries.byteLength, cell.snapshotBytes);
  const snapshot = isDue ? encodeSnapshot(next, sink) : null;
  const payloads = sink.writes.size === 0 ? null : [...sink.writes.values()];
  const write: Writable<TickWrite> = {
    tenantId: cell.tenantId,
    runId: cell.runId,
    seq: next.seq,
    atUs: next.atUs,
    entries,
    header: headerChanged(before, next) ? headerOf(next) : null,
    snapshot,
    startKey: next.seq === 1 ? (cell.start?.request.startKey ?? null) : null,
    consumed: consumedBy(inputs),
    by: next.seq === 1 ? (cell.start?.request.by ?? null) : null,
    // A run that ends with its first row was never known to anybody who could have sent it something; the box of one
    // that continues is that of its successor.
    needsEmptyBox: next.closedAtUs !== null && !isContinued(next) && next.seq > 1 && mayHaveMail(cell, next),
  };
  if (next.runKey !== undefined && endsItsChain(next)) write.frees = runKeyAsStartKey(next.runKey).key;
  if (next.seq === 1) write.retentionMs = cell.start?.request.retentionMs ?? cell.plan?.retentionMs ?? null;
  if (result.messages.length > 0) write.messages = outgoing(cell, result.messages);
  if (payloads !== null) write.payloads = payloads;
  if (result.successor !== null) write.successor = successorOf(result.successor, payloadBytes);
  const bytes = ROW_BYTES + entries.byteLength + (snapshot === null ? 0 : snapshot.byteLength) + sideBytes(write);
  return { cell, inputs, dispositions, next, commands, write, bytes, gated: null, parks };
}

/** A tick that writes no row, only proves the fence and empties the mailbox; undefined when nobody needs that. */
function consumption(cell: RunCell, inputs: readonly PendingInput[]): Tick | undefined {
  const consumed = consumedBy(inputs);
  if (consumed.length === 0 && inputs.every((pending) => pending.settled === null)) return undefined;
  const { tenantId, runId, state } = cell;
  return {
    cell,
    inputs,
    dispositions: inputs.map(() => 'ignored'),
    next: null,
    commands: [],
    write: {
      tenantId,
      runId,
      seq: state?.seq ?? 0,
      atUs: state?.atUs ?? 0,
      entries: NO_BYTES,
      header: null,
      snapshot: null,
      startKey: null,
      consumed,
    },
    bytes: ROW_BYTES,
    gated: null,
    parks: null,
  };
}

/** A tick that drops one input; undefined when nobody waits for an answer to it. */
export function dropTick(cell: RunCell, dropped: PendingInput | null): Tick | undefined {
  return dropped === null ? undefined : consumption(cell, [dropped]);
}

/**
 * A tick that takes a failure for a result that cannot be recorded, of a run that must not be parked; other inputs are
 * dropped. Undefined when nobody waits for an answer. Throws what the machine throws.
 */
export function failTick(
  cell: RunCell,
  reason: ParkReason,
  bad: PendingInput | null,
  env: TickEnvironment,
): Tick | undefined {
  return throughGate(cell, (gate) => failWith(cell, reason, bad, env, gate));
}

function failWith(
  cell: RunCell,
  { code, message }: ParkReason,
  bad: PendingInput | null,
  env: TickEnvironment,
  gate: Gate,
): Tick | undefined {
  const { plan, state } = cell;
  if (plan === null || state === null || bad?.input.kind !== 'result') return dropTick(cell, bad);
  const outcome = { kind: 'failed', code, message, stack: '', nonRetryable: true, retryAfterMs: null } as const;
  const result = advance(plan, state, [{ ...bad.input, outcome }], contextOf(env, cell, gate));
  if (result.entries.length === 0) return consumption(cell, [bad]);
  return stepForward(cell, state, [bad], result.dispositions, result, null, env.payloadBytes);
}

/** The first input on which the machine throws when they come one by one; the last when only all together throw. */
function offender(plan: Plan, state: RunState, inputs: readonly PendingInput[], context: MachineContext): number {
  let at = state;
  for (const [index, pending] of inputs.entries()) {
    try {
      at = advance(plan, at, [pending.input], context).state;
    } catch {
      return index;
    }
  }
  return inputs.length - 1;
}

/**
 * A tick that parks the run and drops one input. Throws what the machine throws when it cannot even park.
 *
 * @param dropped the input that cannot be applied; null when it was not one of them
 * @param others inputs to be applied later
 */
export function parkTick(
  cell: RunCell,
  reason: ParkReason,
  dropped: PendingInput | null,
  others: readonly PendingInput[],
  env: TickEnvironment,
): Tick | undefined {
  return throughGate(cell, (gate) => parkWith(cell, reason, { dropped, others }, env, gate));
}

function parkWith(
  cell: RunCell,
  reason: ParkReason,
  { dropped, others }: { readonly dropped: PendingInput | null; readonly others: readonly PendingInput[] },
  env: TickEnvironment,
  gate: Gate,
): Tick | undefined {
  const { plan, state } = cell;
  const inputs = dropped === null ? [] : [dropped];
  const parks = { ...reason, others };
  if (plan === null || state === null) return undefined;
  const result = advance(plan, state, [{ kind: 'park', ...reason }], contextOf(env, cell, gate));
  if (result.entries.length === 0) {
    const rest = consumption(cell, inputs);
    return rest === undefined ? undefined : { ...rest, parks };
  }
  return stepForward(
    cell,
    state,
    inputs,
    inputs.map(() => 'ignored'),
    result,
    parks,
    env.payloadBytes,
  );
}

/** What a computation came to. */
export type TickResult =
  | { readonly kind: 'tick'; readonly tick: Tick }
  /** Nothing to write; `others` go back to the cell. */
  | { readonly kind: 'nothing'; readonly others: readonly PendingInput[] }
  /** The machine threw, and threw again when the run was to be parked; the inputs are the ones taken. */
  | { readonly kind: 'stuck'; readonly inputs: readonly PendingInput[]; readonly error: unknown };

/** A tick, a consumption or nothing, by what the machine answered. */
function fromAdvance(
  cell: RunCell,
  state: RunState,
  inputs: readonly PendingInput[],
  result: Advance,
  parks: Tick['parks'],
  env: TickEnvironment,
): TickResult {
  if (result.entries.length === 0) {
    const tick = consumption(cell, inputs);
    return tick === undefined ? { kind: 'nothing', others: [] } : { kind: 'tick', tick };
  }
  return { kind: 'tick', tick: stepForward(cell, state, inputs, result.dispositions, result, parks, env.payloadBytes) };
}

/**
 * After the machine threw: the same inputs with a park behind them, so that nothing of the plan is evaluated. When even
 * that throws, one input is to blame: it is dropped, the others stay. A start that cannot even be parked is refused.
 */
function afterThrow(
  cell: RunCell,
  plan: Plan,
  state: RunState,
  inputs: readonly PendingInput[],
  env: TickEnvironment,
  error: unknown,
  gate: Gate,
): TickResult {
  const reason: ParkReason = { code: 'machine_error', message: error instanceof Error ? error.message : String(error) };
  try {
    const facts: RunInput[] = [...inputs.map((pending) => pending.input), { kind: 'park', ...reason }];
    const parks = { ...reason, others: [] };
    return fromAdvance(cell, state, inputs, advance(plan, state, facts, contextOf(env, cell, gate)), parks, env);
  } catch {
    if (state.seq === 0) return { kind: 'stuck', inputs, error };
    const bad = offender(plan, state, inputs, contextOf(env, cell, new AskingGate(cell)));
    const others = inputs.filter((_, index) => index !== bad);
    try {
      const tick = parkWith(cell, reason, { dropped: inputs[bad] ?? null, others }, env, gate);
      return tick === undefined ? { kind: 'nothing', others } : { kind: 'tick', tick };
    } catch (again) {
      return { kind: 'stuck', inputs, error: again };
    }
  }
}

/** Computes the next tick of a ready cell that has inputs. Never throws: a machine that throws parks the run. */
export function computeTick(cell: RunCell, env: TickEnvironment): TickResult {
  const inputs = takeInputs(cell, env);
  const { plan, state, current } = cell;
  if (plan === null || state === null) {
    // It is asked to begin after it was looked for in vain: it is loaded once more, and then begins.
    if (inputs.some(isBirth)) {
      forget(cell);
      return { kind: 'nothing', others: inputs };
    }
    const tick = consumption(cell, inputs);
    return tick === undefined ? { kind: 'nothing', others: [] } : { kind: 'tick', tick };
  }
  const compute = (gate: Gate): TickResult => {
    try {
      const facts = inputs.map((pending) => pending.input);
      const context = contextOf(env, cell, gate, current);
      return fromAdvance(cell, state, inputs, advance(plan, state, facts, context), null, env);
    } catch (error) {
      return afterThrow(cell, plan, state, inputs, env, error, gate);
    }
  };
  const gate = new AskingGate(cell);
  const result = compute(gate);
  if (gate.isUnasked || result.kind !== 'tick') return result;
  return { kind: 'tick', tick: { ...result.tick, gated: { asked: gate.asked, compute } } };
}

/** A tick that may touch more than its run: computed with a gate that only notes what it is asked. */
function throughGate(cell: RunCell, make: (gate: Gate) => Tick | undefined): Tick | undefined {
  const gate = new AskingGate(cell);
  const tick = make(gate);
  if (tick === undefined || gate.isUnasked) return tick;
  const compute = (locked: Gate): TickResult => {
    const decided = make(locked);
    return decided === undefined ? { kind: 'nothing', others: [] } : { kind: 'tick', tick: decided };
  };
  return { ...tick, gated: { asked: gate.asked, compute } };
}

/** All inputs a tick took off its cell, also those that it leaves for later. */
export function inputsOf(tick: Tick): readonly PendingInput[] {
  return tick.parks === null ? tick.inputs : [...tick.inputs, ...tick.parks.others];
}

/** How a refused payload is named in the park entry: by its digest, never by its content. */
export function digestOf(entries: Uint8Array): string {
  return createHash('sha256').update(entries).digest('hex');
}
