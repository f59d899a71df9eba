/**
 * One batch of calls of one tenant in one transaction. Statements, in this order, which is everybody's: idempotency
 * keys; states of strategies; accounts of capacity, each kind by id; claim queues are kept from being removed. What is
 * decided by is read by later statements: they see what was committed while the locks were waited for, the kill switch
 * too. Then all is decided in the order in which it came, and written.
 */
import { lockAccounts, writeAccounts } from '../../capacity/index.js';
import { insertItems, keepQueues } from '../../claims/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';
import { claimItemOf, claimQueuesOf } from '../claiming/claim-item-of.js';
import { readDecisions } from '../decisions/store/sql/read-decisions.js';
import type { PoolView } from '../pipeline/view.js';
import { newWaiting } from '../queue/new-waiting.js';
import { queuesIn } from '../queue/queues-in.js';
import { lockHeads, lockWaiting, readDepths } from '../queue/sql/read-waiting.js';
import { endWaiting, insertWaiting, keepWaiting } from '../queue/sql/write-waiting.js';
import type { CompiledRule } from '../rules/rule.js';
import { everybody, isCurrent } from '../standing/standing.js';
import { readBindings, readFirsts, writeBindings, writeFirsts } from '../standing/sql/known-keys.js';
import { askedPools, readStanding } from '../standing/sql/read-standing.js';
import { writeProbes } from '../standing/sql/seats.js';
import { lockStates, writeStates } from '../standing/sql/strategy-states.js';
import { affinityKeysOf, dedupeKeyOf } from './ask.js';
import type { LaneParts } from './lane-parts.js';
import { isAssigning, madeOf, writeMade, type Made } from './made.js';
import type { Routed, WaitingCall } from './route-call.js';
import { claimRequests, unclaimRequests } from './sql/claim-requests.js';
import { unanswerable } from './unanswerable.js';
import { WaitingDesk, type AskedItem, type ItemResult } from './waiting-desk.js';
import { World, type WorldParts } from './world.js';

/** Heads of each queue that go before calls of Route. */
const HEADS = 8;
const LOCK_TIMEOUT = "set local lock_timeout = '500ms'";
/** A call with the pool it begins with. */
export interface PlannedCall {
  readonly call: WaitingCall;
  readonly firstPoolId: string | undefined;
}

/** A batch: every pool that its calls reach is among the views. */
export interface Batch {
  readonly tenantId: string;
  readonly calls: readonly PlannedCall[];
  readonly views: ReadonlyMap<string, PoolView | undefined>;
  readonly rules: readonly CompiledRule[];
  /** Waiting work that is looked at, in its order. Absent: the heads of queues that the calls come to. */
  readonly waiting?: readonly AskedItem[];
}

/** What came of a call: an answer, a refusal, or nothing yet: it has to be decided again. */
export type CallResult =
  | { readonly kind: 'routed'; readonly routed: Routed }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'again'; readonly missing: readonly string[] };

/** What came of a batch, once its transaction has been committed. */
export interface BatchResult {
  /** One for each call. */
  readonly results: readonly CallResult[];
  /** Pools whose views are old. */
  readonly stale: readonly string[];
  /** Documents that are stored now. */
  readonly documents: readonly string[];
  /** What came of waiting work, by the decision that queued it. */
  readonly waiting: ReadonlyMap<string, ItemResult>;
}

const isView = (view: PoolView | undefined): view is PoolView => view !== undefined;

/** The calls of a batch while they are decided. */
class Deciding {
  readonly results: (CallResult | undefined)[];
  readonly made: Made[] = [];

  constructor(
    readonly parts: LaneParts,
    readonly batch: Batch,
  ) {
    this.results = batch.calls.map(() => undefined);
  }

  /** Answers calls whose idempotency key was known. */
  async answerKnown(tx: Queryable): Promise<void> {
    const { tenantId, calls } = this.batch;
    const claims = calls
      .filter(({ call }) => call.idempotencyKey !== '')
      .map(({ call: { idempotencyKey: key, fingerprint, decisionId } }) => ({ key, fingerprint, decisionId }));
    const known = await claimRequests(tx, tenantId, claims);
    const ids = [...known.values()].map(({ decisionId }) => decisionId);
    const stored = await readDecisions(tx, tenantId, ids);
    for (const [index, { call }] of calls.entries()) {
      const request = known.get(call.idempotencyKey);
      if (request === undefined) continue;
      const decision = stored.get(request.decisionId);
      if (!request.fingerprint.equals(call.fingerprint)) {
        const message = `the idempotency key ${JSON.stringify(call.idempotencyKey)} came with another request before`;
        this.results[index] = { kind: 'failed', error: new DuctorError('idempotency_conflict', message) };
      } else if (decision === undefined) {
        const message = `the decision ${request.decisionId} of this idempotency key is not kept any more`;
        this.results[index] = { kind: 'failed', error: new DuctorError('not_found', message) };
      } else {
        this.results[index] = { kind: 'routed', routed: { stored: decision, decision: undefined } };
      }
    }
  }

  /** Decides everything that is not answered and rests on current views. */
  decide(world: World, stale: ReadonlySet<string>, queues: ReadonlySet<string>, desk: WaitingDesk): void {
    for (const [index, { call, firstPoolId }] of this.batch.calls.entries()) {
      if (this.results[index] !== undefined) continue;
      const reached = [...call.reach, ...(firstPoolId === undefined ? [] : [firstPoolId])];
      const isStale = reached.some((id) => stale.has(id));
      if (!isStale) desk.decideBefore(firstPoolId, call.ask);
      this.results[index] = isStale
        ? { kind: 'again', missing: [] }
        : this.#decideOne(world, queues, call, firstPoolId);
    }
  }

  #decideOne(
    world: World,
    queues: ReadonlySet<string>,
    call: WaitingCall,
    firstPoolId: string | undefined,
  ): CallResult {
    const mark = world.mark();
    try {
      const { ask, decisionId, answers, spentUs } = call;
      const { rules } = this.batch;
      const decision = world.decide({ ask, decisionId, answers, spentUs, firstPoolId, rules, isGranting: true });
      if ('missing' in decision) return { kind: 'again', missing: decision.missing };
      const lacking = unanswerable(decision, queues);
      if (lacking !== undefined) {
        world.takeBack(mark);
        return { kind: 'failed', error: lacking };
      }
      const assignmentIds = isAssigning(decision) ? decision.slate.map(() => this.parts.newId()) : [];
      const { engine } = this.parts;
      const made = madeOf(decision, { ask, principalId: call.principalId, runId: null, engine, assignmentIds });
      this.made.push(made);
      return { kind: 'routed', routed: { stored: made.recorded, decision } };
    } catch (error) {
      return { kind: 'failed', error };
    }
  }

  /** Keys that were claimed and for which nothing was decided that may be answered again. */
  unused(): readonly string[] {
    const own = new Set(this.made.map(({ recorded }) => recorded.decisionId));
    return this.batch.calls.flatMap(({ call }, index) => {
      const result = this.results[index];
      if (call.idempotencyKey === '') return [];
      if (result?.kind === 'routed') {
        const { stored } = result.routed;
        return own.has(stored.decisionId) && stored.outcomeClass === 'infrastructure' ? [call.idempotencyKey] : [];
      }
      const isConflict = result?.kind === 'failed' && DuctorError.from(result.error).code === 'idempotency_conflict';
      return isConflict ? [] : [call.idempotencyKey];
    });
  }
}

async function write(
  tx: Queryable,
  deciding: Deciding,
  desk: WaitingDesk,
  isStored: (digest: string) => boolean,
): Promise<readonly string[]> {
  const { tenantId } = deciding.batch;
  const made = [...desk.made, ...deciding.made];
  const changes = desk.parts.world.changes();
  await writeStates(tx, tenantId, changes.states);
  await writeAccounts(tx, tenantId, changes.accounts);
  const documents = await writeMade(tx, tenantId, made, isStored);
  await insertItems(
    tx,
    tenantId,
    made.flatMap(({ ask, decision }) => claimItemOf(tenantId, decision, ask) ?? []),
  );
  await endWaiting(tx, tenantId, desk.left);
  if (deciding.batch.waiting !== undefined) await keepWaiting(tx, tenantId, desk.stayed);
  await insertWaiting(
    tx,
    tenantId,
    made.flatMap(
      ({ ask, decision, recorded, waiter }) => newWaiting(decision, ask, recorded.principalId, waiter) ?? [],
    ),
  );
  await deciding.parts.waiters.told(tx, tenantId, desk.told);
  await writeBindings(tx, tenantId, changes.bindings);
  await writeProbes(tx, tenantId, changes.probes);
  await writeFirsts(tx, tenantId, changes.firsts);
  await unclaimRequests(tx, tenantId, deciding.unused());
  return documents;
}

/** Everything that is decided by, read under the locks. */
async function readWorld(
  tx: Queryable,
  parts: LaneParts,
  batch: Batch,
  read: Pick<WorldParts, 'states' | 'depths'>,
): Promise<World> {
  const { tenantId, calls, views } = batch;
  const nowUs = parts.clock.nowUs();
  const found = [...views.values()].filter(isView);
  const sticky = found.filter(({ compiled }) => compiled.affinityKeys.length > 0);
  const asks = [...calls.map(({ call }) => call.ask), ...(batch.waiting ?? []).map(({ item }) => item.ask)];
  const bindingKeys = asks.flatMap((ask) => sticky.flatMap((view) => affinityKeysOf(ask, view, nowUs)));
  const firstKeys = calls.flatMap(({ call, firstPoolId }) => {
    const view = firstPoolId === undefined ? undefined : views.get(firstPoolId);
    return view === undefined ? [] : (dedupeKeyOf(call.ask, view, nowUs) ?? []);
  });
  const standing = await readStanding(tx, tenantId, askedPools(views));
  const bindings = await readBindings(tx, tenantId, bindingKeys);
  const firsts = await readFirsts(tx, tenantId, firstKeys);
  return new World({ views, standing, ...read, bindings, firsts, seedKey: parts.seedKey });
}

/** Waiting work of the batch, locked: that which is looked at, or the heads of queues that calls come to. */
async function lockDesk(
  tx: Queryable,
  batch: Batch,
  depths: ReadonlyMap<string, number>,
): Promise<readonly AskedItem[]> {
  const { tenantId, waiting, rules } = batch;
  if (waiting !== undefined) {
    const ids = waiting.map(({ item }) => item.decisionId);
    const locked = await lockWaiting(tx, tenantId, ids);
    return waiting.filter(({ item }) => locked.has(item.decisionId));
  }
  const filled = [...depths].flatMap(([poolId, depth]) => (depth > 0 ? [poolId] : []));
  if (filled.length === 0) return [];
  const heads = await lockHeads(tx, tenantId, filled, HEADS);
  // Without the rules, which nobody in this batch needed, those that go by rules cannot be decided.
  const known = heads.filter(({ ask }) => ask.poolId !== undefined || rules.length > 0);
  return known.map((item) => ({ item, answers: new Map(), spentUs: 0 }));
}

/**
 * Runs a batch within a transaction. What it throws, the database threw: nothing was done then, or its outcome is not
 * known.
 *
 * @param isStored whether the document of a digest is known to be stored
 */
export async function runBatch(
  tx: Queryable,
  parts: LaneParts,
  batch: Batch,
  isStored: (digest: string) => boolean,
): Promise<BatchResult> {
  const { tenantId, views } = batch;
  const deciding = new Deciding(parts, batch);
  await tx.query(LOCK_TIMEOUT);
  await deciding.answerKnown(tx);
  const found = [...views.values()].filter(isView);
  const stateful = found.filter(({ isStateful }) => isStateful).map(({ id }) => id);
  const states = await lockStates(tx, tenantId, stateful);
  const members = new Set(found.flatMap((view) => everybody(view).map(({ id }) => id)));
  if (members.size > 0) await lockAccounts(tx, tenantId, [...members]);
  const depths = await readDepths(tx, tenantId, queuesIn(found, batch.rules));
  const locked = await lockDesk(tx, batch, depths);
  const world = await readWorld(tx, parts, batch, { states, depths });
  const stale = [...views].filter(([id, view]) => !isCurrent(view, world.standing.pools.get(id))).map(([id]) => id);
  const queues = await keepQueues(tx, tenantId, [...new Set(found.flatMap(claimQueuesOf))]);
  const desk = new WaitingDesk(
    { lane: parts, rules: batch.rules, views, queues, world },
    stale.length > 0 ? [] : locked,
  );
  deciding.decide(world, new Set(stale), queues, desk);
  desk.decideRest();
  const documents = await write(tx, deciding, desk, isStored);
  const results = deciding.results.map((result): CallResult => result ?? { kind: 'again', missing: [] });
  return { results, stale, documents, waiting: desk.results };
}
