/**
 * One batch of calls about claims of one tenant in one transaction. Locks in this order, which is everybody's: accounts
 * of capacity, usage of recipients, usage of teams, items, each kind by id or name; what is decided by comes back with
 * the lock or is read by later statements. Then all is folded in the order in which it came, and written.
 *
 * Which team a recipient is in is read between its account and the usage of its team: whoever changes that at the same
 * time does it before or after, and the budget that is counted for is locked either way.
 */
import {
  insertAssignments,
  lockAccounts,
  readAccounts,
  readAssignments,
  writeAccounts,
  writeAssignments,
  type StoredAssignment,
} from '../../capacity/index.js';
import {
  countOpenClaims,
  countTeamClaims,
  lockItems,
  lockTeamUsage,
  lockUsage,
  readAsks,
  readClaimedFor,
  tellWaiters,
  teamKey,
  writeItems,
  writeTeamUsage,
  writeUsage,
  type Claimer,
  type ClaimItem,
  type ClaimWaiters,
  type TeamClaimer,
  type Usage,
} from '../../claims/index.js';
import { readPoolStatus, readRecipientStatus, type RecipientStatus } from '../../pools/index.js';
import type { Queryable } from '../../store/index.js';
import { deedOf, insertAudit } from '../../tenancy/index.js';
import type { PoolView } from '../pipeline/view.js';
import { noteEndings } from '../endings/sql/endings.js';
import { newClocks } from '../sla/new-clocks.js';
import { insertClocks, type NewClock } from '../sla/sql/clocks.js';
import type { ClaimCall, ClaimResult } from './claim-call.js';
import { isExpiredAsk } from './claim-item-of.js';
import { Claiming, teamOf, type ClaimWorld } from './claiming.js';

/** What it needs beside the transaction. */
export interface ClaimRunParts {
  readonly waiters: ClaimWaiters;
  readonly newId: () => string;
  /** The items before the transaction: their pools, queues and claimants never change. */
  readonly items: ReadonlyMap<string, ClaimItem>;
  /** Views of pools, for the clocks of what is claimed; undefined for those that there are not. */
  readonly views: ReadonlyMap<string, PoolView | undefined>;
}

const LOCK_TIMEOUT = "set local lock_timeout = '500ms'";

const distinct = (ids: readonly string[]): readonly string[] => [...new Set(ids)];

/** Recipients in queues whose usage the calls may change. */
function claimersIn(calls: readonly ClaimCall[], items: ReadonlyMap<string, ClaimItem>): readonly Claimer[] {
  const found = calls.flatMap(({ itemId, recipientId, verb }): Claimer[] => {
    const item = items.get(itemId);
    if (item === undefined || verb === 'decline' || verb === 'complete') return [];
    // A row is made for nobody who is not even offered the item.
    return item.claimants.some((each) => each.recipientId === recipientId)
      ? [{ queueId: item.queueId, recipientId }]
      : [];
  });
  return [...new Map(found.map((each) => [`${each.queueId}/${each.recipientId}`, each])).values()];
}

/**
 * Teams in queues whose usage the calls may change: of those who claim, and those that what is given back counts for.
 * The accounts of the recipients are locked.
 */
async function teamsIn(
  tx: Queryable,
  tenantId: string,
  calls: readonly ClaimCall[],
  items: ReadonlyMap<string, ClaimItem>,
  recipients: ReadonlyMap<string, RecipientStatus>,
): Promise<readonly TeamClaimer[]> {
  const shared = calls.flatMap(({ verb, itemId, recipientId }) => {
    const item = items.get(itemId);
    return item?.terms.budget?.scope === 'team' ? [{ verb, item, recipientId }] : [];
  });
  const takes = shared.flatMap(({ verb, item, recipientId }): TeamClaimer[] => {
    const team = teamOf(item, recipients.get(recipientId));
    return verb === 'claim' && team !== null ? [{ queueId: item.queueId, team }] : [];
  });
  const given = shared.flatMap(({ verb, item }) => (verb === 'release' ? [item.itemId] : []));
  const gives = await readClaimedFor(tx, tenantId, distinct(given));
  return [...new Map([...takes, ...gives].map((each) => [teamKey(each.queueId, each.team), each])).values()];
}

/** What is locked. */
interface Locked {
  readonly recipients: ReadonlyMap<string, RecipientStatus>;
  readonly teams: readonly TeamClaimer[];
  readonly claimers: readonly Claimer[];
  readonly usage: ReadonlyMap<string, Usage>;
  readonly items: ReadonlyMap<string, ClaimItem>;
}

/** Takes all locks. */
async function lockAll(
  tx: Queryable,
  tenantId: string,
  calls: readonly ClaimCall[],
  before: ReadonlyMap<string, ClaimItem>,
): Promise<Locked> {
  await tx.query(LOCK_TIMEOUT);
  const claimers = claimersIn(calls, before);
  const recipientIds = distinct(calls.map(({ recipientId }) => recipientId));
  await lockAccounts(tx, tenantId, recipientIds);
  const recipients = await readRecipientStatus(tx, tenantId, recipientIds);
  const teams = await teamsIn(tx, tenantId, calls, before, recipients);
  const usage = new Map([...(await lockUsage(tx, tenantId, claimers)), ...(await lockTeamUsage(tx, tenantId, teams))]);
  return {
    recipients,
    teams,
    claimers,
    usage,
    items: await lockItems(tx, tenantId, distinct(calls.map(({ itemId }) => itemId))),
  };
}

async function readWorld(
  tx: Queryable,
  tenantId: string,
  calls: readonly ClaimCall[],
  { recipients, teams, claimers, usage, items }: Locked,
  newId: () => string,
): Promise<ClaimWorld> {
  const recipientIds = distinct(calls.map(({ recipientId }) => recipientId));
  const assignmentIds = [...items.values()].flatMap(({ assignmentId }) => assignmentId ?? []);
  const queueIds = distinct(claimers.map(({ queueId }) => queueId));
  const pools = distinct([...items.values()].map(({ poolId }) => poolId)).map((poolId) => ({ tenantId, poolId }));
  return {
    ...(await readAccounts(tx, tenantId, recipientIds)),
    ...{ items, usage, newId, recipients },
    assignments:
      assignmentIds.length === 0
        ? new Map<string, StoredAssignment>()
        : await readAssignments(tx, tenantId, assignmentIds),
    open: new Map([
      ...(queueIds.length === 0 ? [] : await countOpenClaims(tx, tenantId, recipientIds, queueIds)),
      ...(await countTeamClaims(tx, tenantId, teams)),
    ]),
    pools: await readPoolStatus(tx, pools),
  };
}

/** The clocks of what was claimed; they count from when the work came in, or from the claim. */
async function clocksOf(
  tx: Queryable,
  tenantId: string,
  { made }: Claiming,
  { views }: ClaimRunParts,
): Promise<readonly NewClock[]> {
  const clocked = made.filter(({ poolId }) => views.get(poolId)?.settings.sla !== undefined);
  const asks = await readAsks(
    tx,
    tenantId,
    clocked.flatMap(({ claimItemId }) => claimItemId ?? []),
  );
  return clocked.flatMap(({ assignmentId, recipientId, poolId, claimItemId, createdAtUs: decidedUs }) => {
    const view = views.get(poolId);
    const ask: unknown = JSON.parse(asks.get(claimItemId ?? '') ?? 'null');
    if (view === undefined || !isExpiredAsk(ask)) return [];
    return newClocks(view, { tenantId, assignmentId, recipientId, ask, decidedUs, isAccepted: true });
  });
}

async function write(tx: Queryable, tenantId: string, claiming: Claiming, parts: ClaimRunParts): Promise<void> {
  if (claiming.done.length === 0) return;
  await writeAccounts(tx, tenantId, claiming.accounts);
  await writeUsage(tx, tenantId, claiming.budgets.used);
  await writeTeamUsage(tx, tenantId, claiming.budgets.usedByTeams);
  await writeItems(tx, claiming.items);
  await insertAssignments(tx, tenantId, claiming.made);
  // The runs with which it ends may have ended since the item was queued.
  await noteEndings(
    tx,
    claiming.made.flatMap(({ endsWith: chainId }) => (chainId === null ? [] : [{ tenantId, chainId }])),
  );
  await writeAssignments(tx, tenantId, claiming.ended);
  await insertClocks(tx, tenantId, await clocksOf(tx, tenantId, claiming, parts));
  await insertAudit(
    tx,
    claiming.done.map(({ by, method, reason, itemId: objectId }) => {
      return { ...deedOf(by, method, reason), tenantId, objectKind: 'claim_item', objectId, outcome: 'ok' } as const;
    }),
  );
  await tellWaiters(parts.waiters, tx, claiming.events);
}

/** Runs a batch within a transaction. What it throws, the database threw: nothing was done then, or nobody knows. */
export async function runClaims(
  tx: Queryable,
  tenantId: string,
  calls: readonly ClaimCall[],
  parts: ClaimRunParts,
): Promise<readonly ClaimResult[]> {
  const locked = await lockAll(tx, tenantId, calls, parts.items);
  const claiming = new Claiming(await readWorld(tx, tenantId, calls, locked, parts.newId));
  const results = calls.map((call) => claiming.act(call));
  await write(tx, tenantId, claiming, parts);
  return results;
}
