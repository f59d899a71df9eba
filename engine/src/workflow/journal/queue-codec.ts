/** What the journal says of steps whose work waits in the queue of a pool. */
import type { RouteQueued, RouteSettling, RouteTold } from '../../gen/ductor/journal/v1/journal.js';
import type { Entry, RunInput, StepState } from '../machine/index.js';
import type { WaitingEntry } from '../machine/waiting-entry.js';
import { claimEntryOf, storedClaimEntry, type StoredClaimEntry } from './claim-codec.js';
import { fromStoredValue, orNull, toStoredValue } from './stored.js';

type QueueEntry = Extract<Entry, { readonly kind: 'route_queued' | 'route_settling' }>;
type Told = Extract<RunInput, { readonly kind: 'route_told' }>;
type Queued = NonNullable<StepState['queued']>;

type StoredQueueEntry =
  | { readonly $case: 'routeQueued'; readonly value: RouteQueued }
  | { readonly $case: 'routeSettling'; readonly value: RouteSettling };

/** An entry about waiting work as it is stored. */
function storedQueueEntry(entry: QueueEntry): StoredQueueEntry {
  const { path } = entry;
  if (entry.kind === 'route_settling') return { $case: 'routeSettling', value: { path } };
  const { workId, poolId, deadlineUs } = entry;
  return { $case: 'routeQueued', value: { path, workId, poolId, deadlineUs: BigInt(deadlineUs ?? 0) } };
}

/** A stored entry about waiting work. */
function queueEntryOf({ $case, value }: StoredQueueEntry): QueueEntry {
  if ($case === 'routeSettling') return { kind: 'route_settling', path: value.path };
  const { path, workId, poolId, deadlineUs } = value;
  return { kind: 'route_queued', path, deadlineUs: orNull(deadlineUs), workId, poolId };
}

type StoredWaiting = StoredClaimEntry | StoredQueueEntry;

const CASES: ReadonlySet<string> = new Set<StoredWaiting['$case']>([
  'claimQueued',
  'claimSettling',
  'routeQueued',
  'routeSettling',
]);

/** Whether a stored entry is about work in a queue of any kind. */
export function isStoredWaiting(stored: { readonly $case: string }): stored is StoredWaiting {
  return CASES.has(stored.$case);
}

/** An entry about work in any kind of queue as it is stored. */
export function storedWaitingEntry(entry: WaitingEntry): StoredWaiting {
  return entry.kind === 'claim_queued' || entry.kind === 'claim_settling'
    ? storedClaimEntry(entry)
    : storedQueueEntry(entry);
}

/** A stored entry about work in any kind of queue. Throws as claimEntryOf does. */
export function waitingEntryOf(stored: StoredWaiting): WaitingEntry {
  return stored.$case === 'claimQueued' || stored.$case === 'claimSettling'
    ? claimEntryOf(stored)
    : queueEntryOf(stored);
}

/** Waiting work in a snapshot; undefined for none. */
export function toSnapshotQueued(queued: Queued | undefined): RouteQueued | undefined {
  return queued === undefined ? undefined : { path: '', deadlineUs: 0n, ...queued };
}

/** Waiting work out of a snapshot. */
export function fromSnapshotQueued(stored: RouteQueued | undefined): { readonly queued?: Queued } {
  return stored === undefined ? {} : { queued: { workId: stored.workId, poolId: stored.poolId } };
}

/** What work came to, as the body of a message. */
export function storedRouteTold({ path, workId, answer }: Told): RouteTold {
  if (answer.kind === 'routed') {
    return { path, workId, output: toStoredValue(answer.output), code: '', message: '', isRetryable: false };
  }
  const { code, message, isRetryable } = answer;
  return { path, workId, output: undefined, code, message, isRetryable };
}

/** The same out of a message. */
export function routeToldOf({ path, workId, output, code, message, isRetryable }: RouteTold): Told {
  const answer =
    output === undefined
      ? ({ kind: 'failed', code, message, isRetryable } as const)
      : ({ kind: 'routed', output: fromStoredValue(output) } as const);
  return { kind: 'route_told', path, workId, answer };
}
