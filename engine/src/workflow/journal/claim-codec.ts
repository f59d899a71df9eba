/** What the journal says of steps whose work waits in a claim queue. */
import type { ClaimQueued, ClaimSettling, ClaimTold } from '../../gen/ductor/journal/v1/journal.js';
import type { Entry, RunInput, StepState } from '../machine/index.js';
import { fromStoredValue, orNull, toStoredValue, unreadable } from './stored.js';

type ClaimEntry = Extract<Entry, { readonly kind: 'claim_queued' | 'claim_settling' }>;
type Told = Extract<RunInput, { readonly kind: 'claim_told' }>;
type Queued = NonNullable<StepState['claim']>;

/** The same as they are stored. */
export type StoredClaimEntry =
  | { readonly $case: 'claimQueued'; readonly value: ClaimQueued }
  | { readonly $case: 'claimSettling'; readonly value: ClaimSettling };

/** An entry about a claim as it is stored. */
export function storedClaimEntry(entry: ClaimEntry): StoredClaimEntry {
  const { path } = entry;
  if (entry.kind === 'claim_settling') return { $case: 'claimSettling', value: { path } };
  return { $case: 'claimQueued', value: { ...storedClaim(entry), path, deadlineUs: BigInt(entry.deadlineUs ?? 0) } };
}

/** A stored entry about a claim. Throws internal for a wait that this engine does not know. */
export function claimEntryOf({ $case, value }: StoredClaimEntry): ClaimEntry {
  if ($case === 'claimSettling') return { kind: 'claim_settling', path: value.path };
  return { kind: 'claim_queued', path: value.path, deadlineUs: orNull(value.deadlineUs), ...claimOf(value) };
}

function storedClaim({ itemId, decisionId, queueId, poolId, until }: Queued): ClaimQueued {
  return { path: '', itemId, decisionId, queueId, poolId, until, deadlineUs: 0n };
}

function claimOf({ itemId, decisionId, queueId, poolId, until }: ClaimQueued): Queued {
  if (until !== 'claimed' && until !== 'completed') throw unreadable(`a claim until ${JSON.stringify(until)}`);
  return { itemId, decisionId, queueId, poolId, until };
}

/** A claim in a snapshot; undefined for none. */
export function toSnapshotClaim(claim: Queued | undefined): ClaimQueued | undefined {
  return claim === undefined ? undefined : storedClaim(claim);
}

/** A claim out of a snapshot. Throws as claimEntryOf does. */
export function fromSnapshotClaim(stored: ClaimQueued | undefined): { readonly claim?: Queued } {
  return stored === undefined ? {} : { claim: claimOf(stored) };
}

/** What became of an item, as the body of a message. */
export function storedClaimTold({ path, itemId, what, output }: Told): ClaimTold {
  return { path, itemId, what, output: output === null ? undefined : toStoredValue(output) };
}

/** The same out of a message. Throws internal for an end that this engine does not know. */
export function claimToldOf({ path, itemId, what, output }: ClaimTold): Told {
  if (what !== 'claimed' && what !== 'completed' && what !== 'expired' && what !== 'withdrawn') {
    throw unreadable(`an item that is ${JSON.stringify(what)}`);
  }
  return { kind: 'claim_told', path, itemId, what, output: output === undefined ? null : fromStoredValue(output) };
}
