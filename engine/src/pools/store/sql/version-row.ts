import type { Row } from '../../../store/index.js';

/** record_version by id. */
export type Versions = ReadonlyMap<string, number>;

/** A row of them. */
export interface VersionRow extends Row {
  readonly id: string;
  readonly version: number;
}

/** The versions that rows hold. */
export function versionsOf(rows: readonly VersionRow[]): Versions {
  return new Map(rows.map(({ id, version }) => [id, version]));
}
