/**
 * Bundles of a tenant: compared, applied, exported.
 *
 * Invariants:
 * 1. All of a bundle is written in one transaction, its rows of the audit trail with it, or nothing is.
 * 2. What is written is the plan that a diff shows at that moment: objects that changed while it was made are locked,
 *    seen to be others, and the plan is made anew.
 * 3. Locks are taken as everywhere: recipients, rules, pools, claim queues, each kind in the order of ids.
 */
import {
  allQueues,
  deleteQueues,
  insertQueues,
  keepQueues,
  lockQueueVersions,
  queuesWithWork,
  updateQueues,
} from '../../claims/index.js';
import type { CelCompiler } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import {
  areSame,
  idsOf,
  lockPools,
  lockRecipients,
  poolCheck,
  readTopology,
  writeTopology,
  type CapacityAuthority,
  type Caller,
} from '../../pools/index.js';
import { classify, type Queryable, type TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit } from '../../tenancy/index.js';
import { ruleCheck } from '../rules/rule.js';
import { MAX_RULES } from '../rules/rules.js';
import { allRules, lockRuleVersions } from '../rules/sql/read-rules.js';
import { countRules, deleteRules, insertRules, updateRules } from '../rules/sql/write-rules.js';
import type { Bundle, BundleChange, Whole } from './bundle.js';
import { exportBundle } from './export-bundle.js';
import { planBundle, referredBy, type BundleAsk, type BundlePlan, type PlanParts } from './plan-bundle.js';

/** Most pools, and most recipients, of a tenant that bundles work on. */
const MAX_OBJECTS = 50_000;
/** How often a plan is made anew because others change the same objects. */
const MAX_TRIES = 5;
const UNIQUE_VIOLATION = '23505';

/** What else an application says. */
export interface Applying {
  /** Digest of the plan that was looked at; empty: whatever it is. */
  readonly expectedPlan: string;
  /** Stands in the audit trail. */
  readonly reason: string;
}

/** The bundles. */
export interface Bundles {
  /** What apply would change. Throws invalid_argument, strategy_conflict, object_archived, limit_exceeded. */
  diff(tenantId: string, ask: BundleAsk): Promise<BundlePlan>;
  /**
   * Changes it, and returns what was changed, with the ids of what was made. Throws what diff throws, version_conflict
   * (another plan than the expected one, or too many others change the same), recipient_in_use, claim_queue_in_use.
   */
  apply(caller: Caller, ask: BundleAsk, applying: Applying): Promise<BundlePlan>;
  /** Everything there is. Throws bundle_ambiguous, limit_exceeded. */
  export(tenantId: string): Promise<Bundle>;
}

/** What they need. */
export interface BundlesOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly newId: () => string;
  readonly capacity: CapacityAuthority;
  /** Told after pools, or who belongs to them, changed. */
  readonly onChange: (tenantId: string, poolIds: readonly string[]) => void;
  /** Told after rules of a tenant changed. */
  readonly onRulesChange: (tenantId: string) => void;
}

async function readWhole(db: Queryable, tenantId: string): Promise<Whole> {
  const topology = await readTopology(db, tenantId, MAX_OBJECTS);
  const queues = await allQueues(db, tenantId, MAX_OBJECTS + 1);
  if (queues.length > MAX_OBJECTS) {
    throw new DuctorError('limit_exceeded', `the tenant has more than ${MAX_OBJECTS} claim queues`);
  }
  return {
    ...topology,
    rules: await allRules(db, tenantId),
    claim_queues: queues.map(({ id, version, fields }) => ({ id, version, fields })),
  };
}

/** Locks everything that the plan changes or refers to; false when some of it is another by now. */
async function lockAll(
  tx: Queryable,
  tenantId: string,
  plan: BundlePlan,
  referred: ReturnType<typeof referredBy>,
): Promise<boolean> {
  if (!(await lockRecipients(tx, tenantId, plan))) return false;
  if (!areSame(plan.rules, await lockRuleVersions(tx, tenantId, idsOf(plan.rules)))) return false;
  if (!(await lockPools(tx, tenantId, plan, referred.pools))) return false;
  const queues = plan.claim_queues;
  if (!areSame(queues, await lockQueueVersions(tx, tenantId, idsOf(queues)))) return false;
  return (await keepQueues(tx, tenantId, referred.queues)).size === referred.queues.length;
}

async function writeRules(tx: Queryable, tenantId: string, { rules }: BundlePlan): Promise<void> {
  await deleteRules(
    tx,
    tenantId,
    rules.deleted.map(({ id }) => id),
  );
  await updateRules(tx, tenantId, rules.updated);
  await insertRules(tx, tenantId, rules.created);
  if (rules.created.length > 0 && (await countRules(tx, tenantId)) > MAX_RULES) {
    throw new DuctorError('limit_exceeded', `the tenant would have more than ${MAX_RULES} rules`);
  }
}

async function writeQueues(tx: Queryable, tenantId: string, plan: BundlePlan): Promise<void> {
  const { created, updated, deleted } = plan.claim_queues;
  const ids = deleted.map(({ id }) => id);
  const busy = await queuesWithWork(tx, tenantId, ids);
  const used = deleted.find(({ id }) => busy.has(id));
  if (used !== undefined) {
    const message = `work waits in claim queue ${used.fields.name}, or is claimed, and the bundle is without it`;
    throw new DuctorError('claim_queue_in_use', message);
  }
  await deleteQueues(tx, tenantId, ids);
  await updateQueues(tx, tenantId, updated);
  await insertQueues(tx, tenantId, created);
}

/** The changes with the ids of what was made: objects are listed by kind in the order in which they are made. */
function withIds({ changes, ...plan }: BundlePlan): BundlePlan {
  const made = {
    pool: plan.pools.created.values(),
    recipient: plan.recipients.created.values(),
    rule: plan.rules.created.values(),
    claim_queue: plan.claim_queues.created.values(),
  };
  const identified = changes.map((change): BundleChange => {
    if (change.action !== 'create') return change;
    const next = made[change.kind].next();
    return { ...change, id: next.done === true ? '' : next.value.id };
  });
  return { ...plan, changes: identified };
}

async function audit(tx: Queryable, { by, method }: Caller, reason: string, plan: BundlePlan): Promise<void> {
  const deed = { ...deedOf(by, method, reason), tenantId: by.tenantId, outcome: 'ok' } as const;
  await insertAudit(
    tx,
    plan.changes.map(({ kind, id }) => ({ ...deed, objectKind: kind, objectId: id })),
  );
}

/** Pools that changed, or whose members did. */
function changedPools({ pools, recipients }: BundlePlan, stored: Whole): readonly string[] {
  const before = new Map(stored.recipients.map(({ id, fields }) => [id, fields]));
  const members = [...recipients.created, ...recipients.updated, ...recipients.deleted].flatMap(({ id, fields }) =>
    [...fields.memberships, ...(before.get(id)?.memberships ?? [])].map(({ pool_id }) => pool_id),
  );
  return [...new Set([...[...pools.created, ...pools.updated, ...pools.deleted].map(({ id }) => id), ...members])];
}

function checkExpected({ digest }: BundlePlan, expected: string): void {
  if (expected === '' || expected === digest) return;
  const details = {
    ...{ path: 'expected_plan', value: expected, problem: `is not the plan as it is now, ${digest}` },
    remedy: 'Diff again, and decide on what it shows now.',
  };
  throw new DuctorError('version_conflict', `expected_plan ${details.problem}`, { details: [details] });
}

interface Applied {
  readonly plan: BundlePlan;
  readonly stored: Whole;
}

/** The bundles of this database. */
export function createBundles(options: BundlesOptions): Bundles {
  const { db, cel, newId, capacity } = options;
  const parts: PlanParts = { pools: poolCheck(cel), rules: ruleCheck(cel), newId };

  /** Undefined: others changed the same meanwhile, and nothing was written. */
  const applyOnce = async (
    tx: Queryable,
    caller: Caller,
    ask: BundleAsk,
    { expectedPlan, reason }: Applying,
  ): Promise<Applied | undefined> => {
    const { tenantId } = caller.by;
    const stored = await readWhole(tx, tenantId);
    const plan = withIds(planBundle(parts, ask, stored));
    checkExpected(plan, expectedPlan);
    if (plan.changes.length === 0) return { plan, stored };
    if (!(await lockAll(tx, tenantId, plan, referredBy(plan, stored)))) return undefined;
    await writeTopology(tx, tenantId, plan, capacity);
    await writeRules(tx, tenantId, plan);
    await writeQueues(tx, tenantId, plan);
    await audit(tx, caller, reason, plan);
    return { plan, stored };
  };

  const tell = (tenantId: string, { plan, stored }: Applied): void => {
    const pools = changedPools(plan, stored);
    if (pools.length > 0) options.onChange(tenantId, pools);
    const { created, updated, deleted } = plan.rules;
    if (created.length + updated.length + deleted.length > 0) options.onRulesChange(tenantId);
  };

  return {
    async diff(tenantId, ask) {
      return planBundle(parts, ask, await readWhole(db.asTenant(tenantId), tenantId));
    },
    async apply(caller, ask, applying) {
      const { tenantId } = caller.by;
      for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
        const applied = await unlessTaken(
          db.asTenant(tenantId).transaction((tx) => applyOnce(tx, caller, ask, applying)),
        );
        if (applied === undefined) continue;
        tell(tenantId, applied);
        return applied.plan;
      }
      throw new DuctorError('version_conflict', 'others keep changing the objects of the bundle', {
        remedy: 'Apply it again when they have finished.',
      });
    },
    async export(tenantId) {
      return exportBundle(await readWhole(db.asTenant(tenantId), tenantId));
    },
  };
}

/** Undefined when somebody made an object of the same name at the same moment. */
async function unlessTaken<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (classify(error).sqlState === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}
