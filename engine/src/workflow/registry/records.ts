/** What the registry keeps and shows. */
import type { Definition } from '../definition/index.js';

/** A workflow. */
export interface WorkflowRecord {
  readonly id: string;
  readonly familySlug: string;
  readonly title: string;
  /** Version that a trigger without version runs; 0 before the first publish. */
  readonly currentVersion: number;
  /** May be incomplete. null: nothing was drafted, it came from a worker. */
  readonly draft: Definition | null;
  /** Raised by each change of the record. */
  readonly recordVersion: number;
  /** Microseconds since 1970 by the database's clock, as all times here. */
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** A published version; it never changes. */
export interface WorkflowVersionRecord {
  readonly version: number;
  /** SHA-256 of the canonical definition, hex. */
  readonly digest: string;
  readonly definition: Definition;
  readonly publishedAtUs: number;
}

/** What publishing did. */
export interface Published {
  /** Version of this content. */
  readonly version: number;
  /** SHA-256 of the canonical definition, hex. */
  readonly digest: string;
  /** False: the content was known; nothing has changed. */
  readonly isNew: boolean;
}

/**
 * A definition out of the database: only what was validated, or at least read as one, is ever stored.
 *
 * @param bytes UTF-8 JSON
 */
export function storedDefinition(bytes: Uint8Array): Definition {
  const definition: Definition = JSON.parse(Buffer.from(bytes).toString('utf8'));
  return definition;
}
