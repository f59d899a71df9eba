/** Pools and recipients with the capacity authority that counts for them. */
import { closeAuthority, openAuthority, readCounters, resetCounters } from '../capacity/index.js';
import type { CelCompiler } from '../expressions/index.js';
import { createPools, createRecipients, type Pools, type Recipients } from '../pools/index.js';
import type { TenantAccess } from '../store/index.js';

/** What it needs. */
export interface DirectoryOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly newId: () => string;
  /** Told after pools, or who belongs to them, changed. Default: nobody is. */
  readonly onChange?: (tenantId: string, poolIds: readonly string[]) => void;
}

/** Whom work can be routed to. */
export interface Directory {
  readonly pools: Pools;
  readonly recipients: Recipients;
}

/** The pools and recipients in this database. */
export function createDirectory({ db, cel, newId, onChange = () => undefined }: DirectoryOptions): Directory {
  const capacity = { open: openAuthority, close: closeAuthority, read: readCounters, reset: resetCounters };
  return {
    pools: createPools({ db, cel, newId, capacity, onChange }),
    recipients: createRecipients({ db, newId, capacity, onChange }),
  };
}
