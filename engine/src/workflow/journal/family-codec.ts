/** What the journal says of families: who started a run, and the children of its steps. */
import type { ChildStarted, ChildTold, Family, SnapshotChild } from '../../gen/ductor/journal/v1/journal.js';
import type { ChildState, ClosePolicy, Entry, FamilyLink } from '../machine/index.js';
import { fromStoredSource, toStoredSource, unreadable } from './stored.js';

type ChildEntry = Extract<Entry, { readonly kind: 'child_started' | 'child_told' }>;

/** A family link as it is stored; undefined for none. */
export function toStoredFamily(family: FamilyLink | null | undefined): Family | undefined {
  return family === null || family === undefined ? undefined : { ...family, mayHold: family.mayHold === true };
}

/** A stored family link. */
export function fromStoredFamily({ rootId, parentId, parentPath, notifies, mayHold }: Family): FamilyLink {
  return { rootId, parentId, parentPath, notifies, ...(mayHold ? { mayHold } : {}) };
}

function policyOf(text: string): ClosePolicy {
  if (text === 'cancel' || text === 'terminate' || text === 'abandon') return text;
  throw unreadable(`a parent close policy ${JSON.stringify(text)}`);
}

function toldOf(text: string): 'cancel' | 'terminate' {
  if (text === 'cancel' || text === 'terminate') return text;
  throw unreadable(`a child told to ${JSON.stringify(text)}`);
}

type StoredChildEntry =
  | { readonly $case: 'childStarted'; readonly value: ChildStarted }
  | { readonly $case: 'childTold'; readonly value: ChildTold };

/** An entry about a child as it is stored. */
export function storedChildEntry(entry: ChildEntry): StoredChildEntry {
  const { path } = entry;
  if (entry.kind === 'child_told') return { $case: 'childTold', value: { path, how: entry.how } };
  const { runId, familySlug, version, policy, isDetached } = entry;
  const input = toStoredSource(entry.input);
  return { $case: 'childStarted', value: { path, runId, familySlug, version, input, policy, isDetached } };
}

/** A stored entry about a child. Throws internal for a policy that this engine does not know. */
export function childEntryOf(stored: StoredChildEntry): ChildEntry {
  if (stored.$case === 'childTold') {
    return { kind: 'child_told', path: stored.value.path, how: toldOf(stored.value.how) };
  }
  const { path, runId, familySlug, version, isDetached } = stored.value;
  const input = fromStoredSource(stored.value.input);
  if (input === null) throw unreadable('a child without input');
  const policy = policyOf(stored.value.policy);
  return { kind: 'child_started', path, runId, familySlug, version, input, policy, isDetached };
}

/** A child in a snapshot; undefined for none. */
export function toSnapshotChild(child: ChildState | null): SnapshotChild | undefined {
  return child === null ? undefined : { ...child, told: child.told ?? '' };
}

/** A child out of a snapshot. Throws internal for a policy that this engine does not know. */
export function fromSnapshotChild(stored: SnapshotChild | undefined): ChildState | null {
  if (stored === undefined) return null;
  const { runId, familySlug, isDetached } = stored;
  const told = stored.told === '' ? null : toldOf(stored.told);
  return { runId, familySlug, policy: policyOf(stored.policy), isDetached, told };
}
