/**
 * The part of a batch of the gate lane that concerns reservations. Locks in everybody's order: families, states of
 * strategies, accounts, each by tenant and id; then claim queues are kept and items locked. What is decided by is
 * read by later statements: they see what was committed while the locks were waited for, limits and kill switches too.
 */
import {
  deleteReservations,
  ensureFamilies,
  familiesInOrder,
  familyName,
  forgetFamilies,
  insertReservations,
  lockAccounts,
  lockFamilies,
  readAccounts,
  readReservations,
  writeAccounts,
  type Family,
  type Reservation,
} from '../../capacity/index.js';
import { insertItems, keepQueues, lockItems, withdrawItems } from '../../claims/index.js';
import {
  askedPools,
  claimItemOf,
  claimQueuesOf,
  insertWaiting,
  lockWorkOfSteps,
  newWaiting,
  queuesIn,
  readDepths,
  removeWaiting,
  everybody,
  isCurrent,
  lockStates,
  openStates,
  readStanding,
  writeStates,
  madeOf,
  writeMade,
  type PoolView,
  type SelectionParts,
} from '../../routing/index.js';
import {
  affinityKeysOf,
  dedupeKeyOf,
  firstPoolOf,
  readBindings,
  readFirsts,
  writeBindings,
  writeFirsts,
  type PoolViews,
  type WorldParts,
} from '../../routing/index.js';
import { noteOwnersEnd, releaseOwners, writeProbes } from '../../routing/index.js';
import { findPoolIds } from '../../pools/index.js';
import type { Queryable } from '../../store/index.js';
import type {
  AdmissionChanges,
  GateLocks,
  MadeDecision,
  ReservationUsage,
  SelectionAsk,
} from '../coordinator/gate-ports.js';
import { NO_RESERVATIONS, type TenantUsage } from '../coordinator/gate-ports.js';
import { readFamilies } from './read-families.js';

/** Pools of a tenant that a batch may reach. */
interface TenantPools {
  readonly tenantId: string;
  readonly asks: readonly SelectionAsk[];
  readonly poolIds: ReadonlyMap<string, string>;
  readonly views: ReadonlyMap<string, PoolView | undefined>;
  readonly rules: TenantUsage['rules'];
}

/** What is known before anything is locked. */
export interface PreparedReservations {
  readonly items: GateLocks['items'];
  readonly works: GateLocks['works'];
  readonly families: readonly Family[];
  readonly pools: readonly TenantPools[];
}

/** Where nothing is selected, nothing dices. */
const NO_KEY = new Uint8Array(0);

const isView = (view: PoolView | undefined): view is PoolView => view !== undefined;

/** Whether a batch concerns reservations. */
export function hasReservations({ selections, families, items, works }: GateLocks): boolean {
  return selections.length + families.length + items.length + works.length > 0;
}

async function preparePools(
  db: Queryable,
  tenantId: string,
  asks: readonly SelectionAsk[],
  views: PoolViews | undefined,
): Promise<TenantPools> {
  if (views === undefined) return { tenantId, asks, poolIds: new Map(), views: new Map(), rules: [] };
  const poolIds = await findPoolIds(db, tenantId, [
    ...new Set(asks.flatMap(({ pool }) => (pool === '' ? [] : [pool]))),
  ]);
  const reached = new Set([...poolIds.values(), ...asks.flatMap((each) => each.reached)]);
  const found = await views.pools(tenantId, reached);
  const rules = asks.some(({ pool }) => pool === '') ? await views.rules(tenantId) : [];
  const stateful = [...found.values()].filter(isView).filter(({ isStateful }) => isStateful);
  await openStates(
    db,
    tenantId,
    stateful.map(({ id }) => id),
  );
  return { tenantId, asks, poolIds, views: found, rules };
}

/** Makes ready what is to be locked. Not in a transaction. */
export async function prepareReservations(
  db: Queryable,
  { selections, families, items, works }: GateLocks,
  parts: SelectionParts | undefined,
): Promise<PreparedReservations> {
  const ordered = familiesInOrder(families);
  await ensureFamilies(db, ordered);
  const pools: TenantPools[] = [];
  for (const tenantId of [...new Set(selections.map((each) => each.tenantId))].sort()) {
    const asks = selections.filter((each) => each.tenantId === tenantId);
    pools.push(await preparePools(db, tenantId, asks, parts?.views));
  }
  return { families: ordered, pools, items, works };
}

/** Recipients of locked families and of pools, by tenant, in order of tenants. */
function recipientsOf(
  { pools, families, items, works }: PreparedReservations,
  held: readonly Reservation[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const tenants = [...new Set([...pools, ...families, ...items, ...works].map(({ tenantId }) => tenantId))].sort();
  const found = new Map(tenants.map((tenantId) => [tenantId, new Set<string>()]));
  for (const { tenantId, views } of pools) {
    for (const view of views.values())
      for (const { id } of view === undefined ? [] : everybody(view)) found.get(tenantId)?.add(id);
  }
  for (const { tenantId, recipientId } of held) found.get(tenantId)?.add(recipientId);
  return found;
}

/** Keys by which pools tell work that comes twice. */
function firstKeys({ asks, poolIds, views, rules }: TenantPools, nowUs: number): Parameters<typeof readFirsts>[2] {
  return asks.flatMap(({ pool, ask, isRoute }) => {
    if (isRoute !== true) return [];
    const poolId = pool === '' ? firstPoolOf(ask, rules, nowUs) : poolIds.get(pool);
    const view = poolId === undefined ? undefined : views.get(poolId);
    return view === undefined ? [] : (dedupeKeyOf(ask, view, nowUs) ?? []);
  });
}

/** Claim queues that decisions may come to. */
function queuesOf({ asks, views }: TenantPools): readonly string[] {
  if (!asks.some(({ isRoute }) => isRoute === true)) return [];
  return [...new Set([...views.values()].filter(isView).flatMap(claimQueuesOf))];
}

/** What is locked of a tenant, or is to be with what is read. */
interface LockedOf {
  readonly states: WorldParts['states'];
  readonly recipients: ReadonlySet<string>;
  readonly items: readonly string[];
  readonly works: readonly string[];
}

/** Locks claim items, which come after accounts, and reads what they are then. */
async function lockedItems(tx: Queryable, tenantId: string, itemIds: readonly string[]): Promise<TenantUsage['items']> {
  if (itemIds.length === 0) return new Map();
  const items = await lockItems(tx, tenantId, itemIds);
  return new Map([...items].map(([id, { state }]) => [id, state]));
}

/** Locks work that steps wait for, as the last of routing's. */
async function lockedWorks(tx: Queryable, tenantId: string, workIds: readonly string[]): Promise<TenantUsage['works']> {
  if (workIds.length === 0) return new Map();
  const waiting = await lockWorkOfSteps(tx, tenantId, workIds);
  return new Map(workIds.map((id) => [id, waiting.get(id) ?? null]));
}

/** How much waits in queues that decisions may come to. */
async function depthsOf(
  tx: Queryable,
  { tenantId, asks, views, rules }: TenantPools,
): Promise<ReadonlyMap<string, number>> {
  if (!asks.some(({ isRoute }) => isRoute === true)) return new Map();
  return readDepths(tx, tenantId, queuesIn([...views.values()].filter(isView), rules));
}

async function readTenant(
  tx: Queryable,
  tenant: TenantPools,
  { states, recipients, items: itemIds, works: workIds }: LockedOf,
  seedKey: Uint8Array,
): Promise<TenantUsage> {
  const { tenantId, asks, poolIds, views, rules } = tenant;
  const standing = await readStanding(tx, tenantId, askedPools(views));
  const { nowUs } = standing;
  const sticky = [...views.values()].filter(isView).filter(({ compiled }) => compiled.affinityKeys.length > 0);
  const keys = asks.flatMap(({ ask }) => sticky.flatMap((view) => affinityKeysOf(ask, view, nowUs)));
  const bindings = await readBindings(tx, tenantId, keys);
  const inPools = new Set([...views.values()].filter(isView).flatMap((view) => everybody(view).map(({ id }) => id)));
  const others = [...recipients].filter((id) => !inPools.has(id));
  const { accounts } = await readAccounts(tx, tenantId, others);
  const stale = new Set([...views].flatMap(([id, view]) => (isCurrent(view, standing.pools.get(id)) ? [] : [id])));
  const firsts = await readFirsts(tx, tenantId, firstKeys(tenant, nowUs));
  const queues = await keepQueues(tx, tenantId, queuesOf(tenant));
  const depths = await depthsOf(tx, tenant);
  const parts = { views, standing, states, bindings, firsts, seedKey, accounts, depths };
  const items = await lockedItems(tx, tenantId, itemIds);
  const works = await lockedWorks(tx, tenantId, workIds);
  return { tenantId, parts, poolIds, stale, queues, items, works, rules };
}

/** Locks and reads. Undefined when a family ended meanwhile: its row is to be made anew. */
export async function lockReservations(
  tx: Queryable,
  prepared: PreparedReservations,
  parts: SelectionParts | undefined,
): Promise<ReservationUsage | undefined> {
  const { families, pools, items, works } = prepared;
  if (families.length + pools.length + items.length + works.length === 0) return NO_RESERVATIONS;
  if (!(await lockFamilies(tx, families))) return undefined;
  const held = await readReservations(tx, families);
  const recipients = recipientsOf(prepared, held);
  const states = new Map<string, WorldParts['states']>();
  for (const { tenantId, views: own } of pools) {
    const stateful = [...own.values()].filter(isView).filter(({ isStateful }) => isStateful);
    states.set(
      tenantId,
      await lockStates(
        tx,
        tenantId,
        stateful.map(({ id }) => id),
      ),
    );
  }
  for (const [tenantId, ids] of recipients) if (ids.size > 0) await lockAccounts(tx, tenantId, [...ids]);
  const tenants: TenantUsage[] = [];
  for (const [tenantId, ids] of recipients) {
    const known = pools.find((each) => each.tenantId === tenantId);
    const tenant = known ?? { tenantId, asks: [], poolIds: new Map(), views: new Map(), rules: [] };
    const own = items.filter((each) => each.tenantId === tenantId).map(({ itemId }) => itemId);
    const waiting = works.filter((each) => each.tenantId === tenantId).map(({ workId }) => workId);
    const locked = { states: states.get(tenantId) ?? new Map(), recipients: ids, items: own, works: waiting };
    const usage = await readTenant(tx, tenant, locked, parts?.seedKey ?? NO_KEY);
    if (usage.stale.size > 0) parts?.views.drop(tenantId, [...usage.stale]);
    tenants.push(usage);
  }
  return { tenants, families: await readFamilies(tx, families, held) };
}

/** Where nothing is routed, nobody made a record. */
const NO_ENGINE = { version: '', tzdb: '' };

/** Decisions with their records. */
function recorded(made: readonly MadeDecision[], parts: SelectionParts | undefined): Parameters<typeof writeMade>[2] {
  const engine = parts?.engine ?? NO_ENGINE;
  return made.map(({ decision, ask, runId, assignmentIds }) =>
    madeOf(decision, { ask, principalId: runId, runId, engine, assignmentIds }),
  );
}

/** Work that waits for a step: of a decision that has nobody waiting for it nothing comes. */
function waitingOf({ decision, ask, runId, waiter }: MadeDecision): Parameters<typeof insertWaiting>[2] {
  const work = waiter === undefined ? undefined : newWaiting(decision, ask, runId, waiter);
  return work === undefined ? [] : [work];
}

/**
 * Writes what was decided.
 *
 * @param documents digests of documents that are known to be stored, by tenant and digest. Returns those that are now
 */
export async function writeReservations(
  tx: Queryable,
  changes: AdmissionChanges,
  parts: SelectionParts | undefined,
  documents: ReadonlySet<string>,
): Promise<readonly string[]> {
  const stored: string[] = [];
  const over = new Set(changes.ended.map(familyName));
  // Before others are written, and what ends with this batch is not: an owner's bindings are locked once, in order.
  await releaseOwners(
    tx,
    changes.ended.map(({ tenantId, rootId: owner }) => ({ tenantId, owner })),
  );
  for (const { tenantId, states, accounts, bindings, firsts, probes, made, ...taken } of changes.tenants) {
    const nameOfDocument = (digest: string): string => `${tenantId}/${digest}`;
    await writeStates(tx, tenantId, states);
    await writeAccounts(tx, tenantId, accounts);
    const isStored = (digest: string): boolean => documents.has(nameOfDocument(digest));
    const written = await writeMade(tx, tenantId, recorded(made, parts), isStored);
    stored.push(...written.map(nameOfDocument));
    const items = made.flatMap(({ ask, decision, waiter }) => claimItemOf(tenantId, decision, ask, waiter) ?? []);
    await insertItems(tx, tenantId, items);
    await withdrawItems(tx, tenantId, taken.withdrawn);
    await insertWaiting(tx, tenantId, made.flatMap(waitingOf));
    await removeWaiting(tx, tenantId, taken.unqueued);
    await writeBindings(
      tx,
      tenantId,
      bindings.filter(({ owner = '' }) => !over.has(familyName({ tenantId, rootId: owner }))),
    );
    await writeFirsts(tx, tenantId, firsts);
    await writeProbes(tx, tenantId, probes);
  }
  await noteOwnersEnd(tx, changes.closed);
  await insertReservations(tx, changes.added);
  await deleteReservations(tx, changes.released);
  await forgetFamilies(tx, changes.ended);
  return stored;
}
