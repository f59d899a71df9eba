/** Pools and recipients with the capacity authority that counts for them. */
import { closeAuthority, openAuthority, readCounters, resetCounters } from '../capacity/index.js';
import { keepQueues } from '../claims/index.js';
import type { CelCompiler } from '../expressions/index.js';
import { createPools, createRecipients, type Pools, type Recipients } from '../pools/index.js';
import type { TenantAccess } from '../store/index.js';
import { createBundles, type Bundles } from './bundles/bundles.js';
import { createRules, type Rules } from './rules/rules.js';

/** What it needs. */
export interface DirectoryOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly newId: () => string;
  /** Told after pools, or who belongs to them, changed. Default: nobody is. */
  readonly onChange?: (tenantId: string, poolIds: readonly string[]) => void;
  /** Told after rules of a tenant changed. Default: nobody is. */
  readonly onRulesChange?: (tenantId: string) => void;
}

/** Whom work can be routed to, and what says to which pool. */
export interface Directory {
  readonly pools: Pools;
  readonly recipients: Recipients;
  readonly rules: Rules;
  readonly bundles: Bundles;
}

const nobody = (): void => undefined;

/** The pools, recipients and rules in this database, and bundles of them. */
export function createDirectory({ onChange = nobody, onRulesChange = nobody, ...parts }: DirectoryOptions): Directory {
  const { db, cel, newId } = parts;
  const capacity = { open: openAuthority, close: closeAuthority, read: readCounters, reset: resetCounters };
  return {
    pools: createPools({ db, cel, newId, capacity, queues: { keep: keepQueues }, onChange }),
    recipients: createRecipients({ db, newId, capacity, onChange }),
    rules: createRules({ db, cel, newId, onChange: onRulesChange }),
    bundles: createBundles({ db, cel, newId, capacity, onChange, onRulesChange }),
  };
}
