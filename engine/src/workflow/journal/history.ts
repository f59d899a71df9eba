/** The journal as people read it. */
import type { Want } from '../../capacity/index.js';
import {
  formatTimestampUs,
  jsonOfValue,
  scopeName,
  type Entry,
  type FamilyLink,
  type OpenApproval,
  type PayloadRef,
  type RunFailure,
  type Value,
  type ValueSource,
} from '../machine/index.js';
import { isWaitingEntry, type WaitingEntry } from '../machine/waiting-entry.js';
import type { BodyRunEntry } from './body-codec.js';
import { decodeEntries } from './entries-codec.js';
import type { SlateEntry } from './slate-codec.js';
import type { PayloadShelf } from './payloads.js';

/** One fact of a run's history. */
export interface HistoryItem {
  /** Number of the journal row. */
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly atUs: number;
  /** Kind of entry. */
  readonly kind: Entry['kind'];
  /** Path of the step; empty when the run as a whole is meant. */
  readonly step: string;
  /** 0 when the entry names none. */
  readonly attempt: number;
  /** The rest, as plain JSON with names of the contract. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** Large values that are told by their size, for they were not loaded. */
  readonly absent: readonly PayloadRef[];
  /** Bytes of all its values, those that are absent as if they were there. */
  readonly valueBytes: number;
}

function shownValue(value: Value): unknown {
  const { data, encoding, absent } = value;
  if (absent !== undefined) return { encoding, bytes: absent.size };
  try {
    const found = jsonOfValue(value);
    if (found !== undefined) return found.json;
  } catch {
    // A worker called it JSON and it is not: shown as any other opaque value.
  }
  return { encoding, bytes: data.byteLength };
}

function shownSource(source: ValueSource | null): unknown {
  if (source === null) return null;
  if (source.kind === 'value') return shownValue(source.value);
  if (source.kind === 'stepOutput') return { same_as: `steps.${source.path}.output` };
  return { same_as: source.kind === 'runInput' ? 'input' : source.kind };
}

function shownError(error: RunFailure): unknown {
  const { code, message, step, attempt, retryable, stack, causes } = error;
  const behind = causes?.map(({ isMember, ...cause }) => ({ ...cause, is_member: isMember }));
  const more = { ...(stack === '' ? {} : { stack }), ...(behind === undefined ? {} : { causes: behind }) };
  return { code, message, step, attempt, retryable, ...more };
}

/** What something came to, where it came to something. */
function shownEnd({ output, error }: { readonly output: ValueSource | null; readonly error: RunFailure | null }) {
  return {
    ...(output === null ? {} : { output: shownSource(output) }),
    ...(error === null ? {} : { error: shownError(error) }),
  };
}

/** A limit in time, where there is one. */
function by(us: number | null): { readonly deadline?: string } {
  return us === null ? {} : { deadline: formatTimestampUs(us) };
}

function bodyDetailOf(entry: BodyRunEntry): Readonly<Record<string, unknown>> {
  switch (entry.kind) {
    case 'step_opened': {
      const source = shownSource(entry.source);
      if (entry.body === 'loop') return { body: 'loop', vars: source, max_iterations: entry.count };
      return { body: entry.body, items: source, count: entry.count };
    }
    case 'step_continuing':
      return entry.atUs === 0 ? {} : { at: formatTimestampUs(entry.atUs) };
    case 'step_closing':
      return entry.error === null ? {} : { error: shownError(entry.error) };
    case 'step_collected':
      return { of: entry.of };
    case 'body_completed':
      return entry.output === null ? {} : { output: shownSource(entry.output) };
    case 'body_failed':
    case 'body_failing':
      return { error: shownError(entry.error) };
    case 'body_cancelled':
      return {};
  }
}

function shownParent(family: FamilyLink | undefined): Readonly<Record<string, unknown>> {
  return family === undefined ? {} : { parent_run_id: family.parentId, parent_step: family.parentPath };
}

function shownChild(
  entry: Entry & { readonly kind: 'child_started' | 'child_told' },
): Readonly<Record<string, unknown>> {
  if (entry.kind === 'child_told') return { how: entry.how };
  const { familySlug, version, policy, isDetached, runId } = entry;
  const workflow = { workflow: familySlug, ...(version === 0 ? {} : { version }) };
  const how = { detached: isDetached, parent_close_policy: policy };
  return { child_run_id: runId, ...workflow, input: shownSource(entry.input), ...how };
}

function shownChain({ chain }: Entry & { readonly kind: 'run_started' }): Readonly<Record<string, unknown>> {
  return chain === undefined ? {} : { continues_run_id: chain.previousId, chain_id: chain.chainId, chain_no: chain.no };
}

function shownApproval(approval: OpenApproval | null): Readonly<Record<string, unknown>> {
  if (approval === null) return {};
  const { assignees, options, escalation } = approval;
  const later =
    escalation === null ? {} : { escalate_at: formatTimestampUs(escalation.atUs), escalate_to: escalation.assignees };
  return { ...(assignees === null ? {} : { assignees }), options, ...later };
}

type SignalEntry = Extract<
  Entry,
  { readonly kind: 'step_awaiting' | 'signal_received' | 'signal_taken' | 'update_taken' | 'update_answered' }
>;

function signalDetailOf(entry: SignalEntry): Readonly<Record<string, unknown>> {
  switch (entry.kind) {
    case 'step_awaiting':
      return { signal: entry.name, ...by(entry.deadlineUs), ...shownApproval(entry.approval) };
    case 'signal_received':
      return { signal: entry.name, id: entry.id, payload: shownValue(entry.payload), by: entry.by };
    case 'signal_taken': {
      const output = entry.output === null ? {} : { output: shownValue(entry.output) };
      return { signal: entry.name, id: entry.id, ...output };
    }
    case 'update_taken':
      return { update: entry.name, id: entry.id };
    case 'update_answered':
      return { update: entry.name, id: entry.id, ...shownEnd(entry) };
  }
}

type AttemptEntry = Extract<
  Entry,
  {
    readonly kind:
      | 'step_scheduled'
      | 'step_running'
      | 'step_completed'
      | 'sub_step_completed'
      | 'attempt_failed'
      | 'step_cancelling'
      | 'step_cancelled';
  }
>;

function attemptDetailOf(entry: AttemptEntry): Readonly<Record<string, unknown>> {
  switch (entry.kind) {
    case 'step_scheduled':
      return { ...(entry.input === null ? {} : { input: shownSource(entry.input) }), ...by(entry.startByUs) };
    case 'step_running':
      return { worker: entry.worker, deadline: formatTimestampUs(entry.deadlineUs) };
    case 'step_completed':
      return { output: shownValue(entry.output) };
    case 'sub_step_completed':
      return { name: entry.name, output: shownValue(entry.output) };
    case 'attempt_failed': {
      const progress = entry.progress === null ? {} : { progress: shownValue(entry.progress) };
      return { error: shownError(entry.error), retry_at: formatTimestampUs(entry.retryAtUs), ...progress };
    }
    case 'step_cancelling':
      return { deadline: formatTimestampUs(entry.deadlineUs) };
    case 'step_cancelled':
      return { abandoned: entry.abandoned };
  }
}

function successorOf(entry: Entry): { readonly continued_as?: string | undefined } {
  return 'successorId' in entry ? { continued_as: entry.successorId } : {};
}

/** Where a run comes from, and until when it may go. */
function shownOrigin(entry: Entry & { readonly kind: 'run_started' }): Readonly<Record<string, unknown>> {
  const key = entry.runKey === undefined ? {} : { run_key: entry.runKey };
  const fork = entry.fork === undefined ? {} : { forked_run_id: entry.fork.runId, forked_from: entry.fork.from };
  return { ...key, ...shownParent(entry.family), ...shownChain(entry), ...fork, ...by(entry.deadlineUs) };
}

/** How a run begins. */
function startDetailOf(entry: Entry & { readonly kind: 'run_started' }): Readonly<Record<string, unknown>> {
  const { familySlug, version, input, attributes } = entry;
  return { family_slug: familySlug, version, input: shownValue(input), attributes, ...shownOrigin(entry) };
}

type GateEntry = Entry & { readonly kind: 'step_asked' | 'run_asked' | 'step_granted' | 'run_granted' };

function shownWant(want: Want): Readonly<Record<string, unknown>> {
  const { key, limit } = want;
  return want.kind === 'rate' ? { rate: key, limit, per_us: want.perUs } : { key, limit };
}

/** What was asked for, and when it begins. */
function gateDetailOf(entry: GateEntry): Readonly<Record<string, unknown>> {
  if ('startAtUs' in entry) return entry.startAtUs === 0 ? {} : { start_at: formatTimestampUs(entry.startAtUs) };
  const wants = entry.wants.map(shownWant);
  if (entry.kind === 'run_asked') return { wants };
  const input = entry.input === null ? {} : { input: shownSource(entry.input) };
  return { ...input, wants, ...by(entry.giveUpUs) };
}

/** How a run ends. */
function endDetailOf(entry: Entry & { readonly kind: 'run_ending' | 'run_closed' }): Readonly<Record<string, unknown>> {
  const output = entry.output === null ? {} : { output: shownSource(entry.output) };
  const error = entry.error === null ? {} : { error: shownError(entry.error) };
  return { state: entry.status, ...output, ...error, ...successorOf(entry) };
}

type HoldEntry = Entry & { readonly kind: 'cancel_requested' | 'run_paused' | 'run_terminated' | 'run_parked' };

/** Who held or ended a run, and why. */
function holdDetailOf(entry: HoldEntry): Readonly<Record<string, unknown>> {
  if (entry.kind !== 'run_parked') return { reason: entry.reason, requested_by: entry.requestedBy };
  return { code: entry.code, message: entry.message, ...(entry.step === '' ? {} : { step: entry.step }) };
}

/** What was asked for, and what is held. */
function slateDetailOf(entry: SlateEntry): Readonly<Record<string, unknown>> {
  if (entry.kind === 'step_selecting') {
    return { ...(entry.pool === '' ? {} : { pool: entry.pool }), routable: shownValue(entry.routable) };
  }
  const { poolId, digest, isReused } = entry;
  return { pool_id: poolId, recipients: shownValue(entry.recipients), digest, ...(isReused ? { reused: true } : {}) };
}

/** The work that waits to be claimed. */
function shownClaim(entry: Entry & { readonly kind: 'claim_queued' }): Readonly<Record<string, unknown>> {
  const { itemId, decisionId, queueId, poolId, until, deadlineUs } = entry;
  const timed = deadlineUs === null ? {} : { deadline: formatTimestampUs(deadlineUs) };
  return { item_id: itemId, decision_id: decisionId, queue_id: queueId, pool_id: poolId, until, ...timed };
}

/** The work that waits in the queue of a pool. */
function shownWork({
  workId,
  poolId,
  deadlineUs,
}: Entry & { readonly kind: 'route_queued' }): Readonly<Record<string, unknown>> {
  const timed = deadlineUs === null ? {} : { deadline: formatTimestampUs(deadlineUs) };
  return { decision_id: workId, ...(poolId === '' ? {} : { pool_id: poolId }), ...timed };
}

type TurnEntry = Entry & { readonly kind: 'run_resumed' | 'run_continuing' | 'run_compensating' };

/** How a run goes on in another way. */
function turnDetailOf(entry: TurnEntry): Readonly<Record<string, unknown>> {
  if (entry.kind === 'run_compensating') return { steps: entry.steps };
  if (entry.kind === 'run_continuing') return { input: shownSource(entry.input), version: entry.version };
  return entry.requestedBy === '' ? {} : { requested_by: entry.requestedBy };
}

function waitingDetailOf(entry: WaitingEntry): Readonly<Record<string, unknown>> {
  if (entry.kind === 'claim_queued') return shownClaim(entry);
  return entry.kind === 'route_queued' ? shownWork(entry) : {};
}

function detailOf(entry: Entry): Readonly<Record<string, unknown>> {
  return isWaitingEntry(entry) ? waitingDetailOf(entry) : otherDetailOf(entry);
}

type OtherEntry = Exclude<Entry, WaitingEntry>;

function otherDetailOf(entry: OtherEntry): Readonly<Record<string, unknown>> {
  switch (entry.kind) {
    case 'run_started':
      return startDetailOf(entry);
    case 'step_scheduled':
    case 'step_running':
    case 'step_completed':
    case 'sub_step_completed':
    case 'attempt_failed':
    case 'step_cancelling':
    case 'step_cancelled':
      return attemptDetailOf(entry);
    case 'step_failed':
    case 'run_failing':
      return { error: shownError(entry.error) };
    case 'step_waiting':
      return { wake_at: formatTimestampUs(entry.wakeAtUs) };
    case 'step_asked':
    case 'run_asked':
    case 'step_granted':
    case 'run_granted':
      return gateDetailOf(entry);
    case 'child_started':
    case 'child_told':
      return shownChild(entry);
    case 'step_awaiting':
    case 'signal_received':
    case 'signal_taken':
    case 'update_taken':
    case 'update_answered':
      return signalDetailOf(entry);
    case 'step_selecting':
    case 'slate_reserved':
      return slateDetailOf(entry);
    case 'approval_escalated':
    case 'step_skipped':
      return {};
    case 'step_opened':
    case 'step_continuing':
    case 'step_closing':
    case 'step_collected':
    case 'body_completed':
    case 'body_failed':
    case 'body_failing':
    case 'body_cancelled':
      return bodyDetailOf(entry);
    case 'cancel_requested':
    case 'run_paused':
    case 'run_terminated':
    case 'run_parked':
      return holdDetailOf(entry);
    case 'run_resumed':
    case 'run_continuing':
    case 'run_compensating':
      return turnDetailOf(entry);
    case 'run_ending':
    case 'run_closed':
      return endDetailOf(entry);
  }
}

/** Path of the step, or name of the item or iteration, that an entry concerns. */
function placeOf(entry: Entry): string {
  if (!('path' in entry)) return '';
  return 'index' in entry ? scopeName(entry.path, entry.index) : entry.path;
}

function sizes(values: readonly Value[]): Pick<HistoryItem, 'absent' | 'valueBytes'> {
  const absent = values.flatMap((value) => value.absent ?? []);
  const valueBytes = values.reduce((sum, { data, absent: ref }) => sum + (ref?.size ?? data.byteLength), 0);
  return { absent, valueBytes };
}

/** The values of an entry, wherever it has them. */
function valuesOf(node: unknown): readonly Value[] {
  if (typeof node !== 'object' || node === null || node instanceof Uint8Array) return [];
  return isValue(node) ? [node] : Object.values(node).flatMap(valuesOf);
}

function isValue(node: object): node is Value {
  return 'encoding' in node && 'data' in node && node.data instanceof Uint8Array;
}

/** A journal row as stored. */
export interface JournalRow {
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly atUs: number;
  readonly entries: Uint8Array;
}

/**
 * The facts of these rows, one item per entry, in order. Throws internal for rows a newer engine wrote.
 *
 * @param shelf payloads of the run, noting those it has not; values that stand there are told by their size
 */
export function historyOf(rows: readonly JournalRow[], shelf?: PayloadShelf): readonly HistoryItem[] {
  return rows.flatMap(({ seq, atUs, entries }) =>
    decodeEntries(entries, shelf).map((entry) => ({
      seq,
      atUs,
      kind: entry.kind,
      step: placeOf(entry),
      attempt: 'attempt' in entry ? entry.attempt : 0,
      detail: detailOf(entry),
      ...sizes(valuesOf(entry)),
    })),
  );
}
