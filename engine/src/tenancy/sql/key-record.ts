/** Rows of `api_keys` as people see them. */
import type { Row } from '../../store/index.js';
import { isScope, type Scope } from '../permissions.js';

/** A key without its secret. Times: microseconds since 1970 by the database's clock. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAtUs: number;
  /** null: never. */
  readonly expiresAtUs: number | null;
  /** null: it was not revoked. */
  readonly revokedAtUs: number | null;
  /** To the minute; null: it was never used. */
  readonly lastUsedAtUs: number | null;
}

/** A row with KEY_COLUMNS. */
export interface KeyRecordRow extends Row {
  readonly key_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_us: number;
  readonly expires_us: number | null;
  readonly revoked_us: number | null;
  readonly used_us: number | null;
}

const us = (column: string): string => `(extract(epoch from ${column}) * 1000000)::bigint`;

/** What toKeyRecord reads. */
export const KEY_COLUMNS = `key_id::text, name, scopes, ${us('created_at')} as created_us,
  ${us('expires_at')} as expires_us, ${us('revoked_at')} as revoked_us, ${us('last_used_at')} as used_us`;

/** The record of a row. */
export function toKeyRecord(row: KeyRecordRow): KeyRecord {
  return {
    id: row.key_id,
    name: row.name,
    scopes: row.scopes.filter(isScope),
    createdAtUs: row.created_us,
    expiresAtUs: row.expires_us,
    revokedAtUs: row.revoked_us,
    lastUsedAtUs: row.used_us,
  };
}
