/** What the journal says of gates: what steps and runs asked for, and were granted. */
import type {
  RunAsked,
  RunGranted,
  SnapshotGate,
  StepAsked,
  StepGranted,
  Want as StoredWant,
} from '../../gen/ductor/journal/v1/journal.js';
import type { Want } from '../../capacity/index.js';
import type { Entry, GateState } from '../machine/index.js';
import { fromStoredKeys, fromStoredSource, orNull, toStoredKeys, toStoredSource, unreadable } from './stored.js';

/** Entries about gates. */
export type GateEntry = Extract<Entry, { readonly kind: 'step_asked' | 'step_granted' | 'run_asked' | 'run_granted' }>;

type StoredGateEntry =
  | { readonly $case: 'stepAsked'; readonly value: StepAsked }
  | { readonly $case: 'stepGranted'; readonly value: StepGranted }
  | { readonly $case: 'runAsked'; readonly value: RunAsked }
  | { readonly $case: 'runGranted'; readonly value: RunGranted };

function toStoredWant(want: Want): StoredWant {
  const { kind, key, limit } = want;
  return { kind, key, limit, perUs: BigInt(want.kind === 'rate' ? want.perUs : 0) };
}

function fromStoredWant({ kind, key, limit, perUs }: StoredWant): Want {
  if (kind === 'concurrency') return { kind, key, limit };
  if (kind === 'rate') return { kind, key, limit, perUs: Number(perUs) };
  throw unreadable(`a want of kind ${JSON.stringify(kind)}`);
}

/** An entry about a gate as it is stored. */
export function storedGateEntry(entry: GateEntry): StoredGateEntry {
  switch (entry.kind) {
    case 'step_asked': {
      const { path, ticket, giveUpUs } = entry;
      const [wants, input] = [entry.wants.map(toStoredWant), toStoredSource(entry.input)];
      const value = { path, ticket, wants, input, giveUpUs: BigInt(giveUpUs ?? 0), ...toStoredKeys(entry.keys) };
      return { $case: 'stepAsked', value };
    }
    case 'step_granted':
      return { $case: 'stepGranted', value: { path: entry.path, startAtUs: BigInt(entry.startAtUs) } };
    case 'run_asked':
      return { $case: 'runAsked', value: { ticket: entry.ticket, wants: entry.wants.map(toStoredWant) } };
    case 'run_granted':
      return { $case: 'runGranted', value: { startAtUs: BigInt(entry.startAtUs) } };
  }
}

/** A stored entry about a gate. Throws internal for a want that this engine does not know. */
export function gateEntryOf(stored: StoredGateEntry): GateEntry {
  switch (stored.$case) {
    case 'stepAsked': {
      const { path, ticket, giveUpUs } = stored.value;
      const [wants, input] = [stored.value.wants.map(fromStoredWant), fromStoredSource(stored.value.input)];
      const keys = fromStoredKeys(stored.value);
      return { kind: 'step_asked', path, ticket, wants, input, keys, giveUpUs: orNull(giveUpUs) };
    }
    case 'stepGranted':
      return { kind: 'step_granted', path: stored.value.path, startAtUs: Number(stored.value.startAtUs) };
    case 'runAsked':
      return { kind: 'run_asked', ticket: stored.value.ticket, wants: stored.value.wants.map(fromStoredWant) };
    case 'runGranted':
      return { kind: 'run_granted', startAtUs: Number(stored.value.startAtUs) };
  }
}

/** Whether a stored entry is about a gate. */
export function isStoredGate(stored: { readonly $case: string }): stored is StoredGateEntry {
  return ['stepAsked', 'stepGranted', 'runAsked', 'runGranted'].includes(stored.$case);
}

/** A gate in a snapshot; undefined for none. */
export function toSnapshotGate(gate: GateState | null): SnapshotGate | undefined {
  if (gate === null) return undefined;
  const { state, ticket, startAtUs, sinceUs } = gate;
  const wants = gate.wants.map(toStoredWant);
  return { state, ticket, wants, startAtUs: BigInt(startAtUs ?? 0), sinceUs: BigInt(sinceUs) };
}

/** A gate out of a snapshot. Throws internal for a state that this engine does not know. */
export function fromSnapshotGate(stored: SnapshotGate | undefined): GateState | null {
  if (stored === undefined) return null;
  const { state, ticket, startAtUs, sinceUs } = stored;
  if (state !== 'waiting' && state !== 'held' && state !== 'left') throw unreadable(`a gate that is ${state}`);
  const wants = stored.wants.map(fromStoredWant);
  return { state, ticket, wants, startAtUs: orNull(startAtUs), sinceUs: Number(sinceUs) };
}
