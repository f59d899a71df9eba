/** A hint among nodes: tasks of a tenant wait here and no worker serves them. As a text, for the bus. */
import type { TaskKind } from '../queue/capability.js';

/** The topic of the bus. */
export const WISH_TOPIC = 'relay';
/** Kinds of tasks that one hint names; others are named once these are served. */
const MAX_KINDS = 20;
/** Longest hint that is read. */
const MAX_CHARS = 64 * 1024;

/** Who lacks what. */
export interface RelayWish {
  /** The node whose tasks wait. */
  readonly nodeId: string;
  readonly tenantId: string;
  readonly kinds: readonly TaskKind[];
}

/** The hint as a text. */
export function wishText({ nodeId, tenantId, kinds }: RelayWish): string {
  const named = kinds.slice(0, MAX_KINDS);
  const rows = named.map(({ queue, familySlug, handler, version }) => [queue, familySlug, handler, version]);
  return JSON.stringify([nodeId, tenantId, rows]);
}

function kindOf(row: unknown): TaskKind | null {
  if (!Array.isArray(row)) return null;
  const [queue, familySlug, handler, version]: readonly unknown[] = row;
  const isKind = typeof queue === 'string' && typeof familySlug === 'string' && typeof handler === 'string';
  return isKind && typeof version === 'number' ? { queue, familySlug, handler, version } : null;
}

/** Reads a hint; null when it is none. */
export function readWish(text: string): RelayWish | null {
  if (text.length > MAX_CHARS) return null;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(read)) return null;
  const [nodeId, tenantId, rows]: readonly unknown[] = read;
  if (typeof nodeId !== 'string' || typeof tenantId !== 'string' || !Array.isArray(rows)) return null;
  const kinds = rows.slice(0, MAX_KINDS).map(kindOf);
  return { nodeId, tenantId, kinds: kinds.filter((kind) => kind !== null) };
}
