/** What the journal says of selections: what was asked for, and what is held. */
import type { SlateReserved, StepSelecting } from '../../gen/ductor/journal/v1/journal.js';
import type { Entry } from '../machine/index.js';
import { requiredValue, toStoredValue } from './stored.js';

/** Entries about selections. */
export type SlateEntry = Extract<Entry, { readonly kind: 'step_selecting' | 'slate_reserved' }>;

type StoredSlateEntry =
  | { readonly $case: 'stepSelecting'; readonly value: StepSelecting }
  | { readonly $case: 'slateReserved'; readonly value: SlateReserved };

/** An entry about a selection as it is stored. */
export function storedSlateEntry(entry: SlateEntry): StoredSlateEntry {
  const { path } = entry;
  if (entry.kind === 'step_selecting') {
    return { $case: 'stepSelecting', value: { path, pool: entry.pool, routable: toStoredValue(entry.routable) } };
  }
  const { poolId, isReused, decisionId = '' } = entry;
  const [digest, recipients] = [Buffer.from(entry.digest, 'hex'), toStoredValue(entry.recipients)];
  return { $case: 'slateReserved', value: { path, poolId, digest, isReused, recipients, decisionId } };
}

/** A stored entry about a selection. */
export function slateEntryOf(stored: StoredSlateEntry): SlateEntry {
  const { path } = stored.value;
  if (stored.$case === 'stepSelecting') {
    return { kind: 'step_selecting', path, pool: stored.value.pool, routable: requiredValue(stored.value.routable) };
  }
  const { poolId, isReused, decisionId } = stored.value;
  const [digest, recipients] = [
    Buffer.from(stored.value.digest).toString('hex'),
    requiredValue(stored.value.recipients),
  ];
  const by = decisionId === '' ? {} : { decisionId };
  return { kind: 'slate_reserved', path, poolId, digest, isReused, recipients, ...by };
}
