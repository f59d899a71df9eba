/**
 * Chooses account seats and models for runs, in this process. Everything it knows it has been told; it is lost with the
 * process, and shared with nobody.
 *
 * State, by pool: to which seat a run is bound; until when a seat or model cools down; outcomes of models; whose turn
 * it is; the highest tier a run has reached.
 * Transitions: a choice of a seat binds the run to it. A rate limit unbinds every run from its seat, and begins or
 * prolongs a cooldown. The end of a run unbinds it everywhere and forgets its tiers.
 * Invariants:
 * 1. A run gets the seat it is bound to as long as that one is in the pool and not cooling down.
 * 2. A cooldown never becomes shorter.
 * 3. Nobody is ever bound to a fallback item, nor to a seat that is chosen although it cools down.
 * 4. A run goes down a tier only while all from its own on are cooling down.
 * 5. An item of weight 0 is chosen only for runs that are bound to it already.
 */
import { FieldChecks, kindOf } from '../connection/field-checks.js';
import { choose, weightOf } from './choose.js';
import { escalate } from './escalate.js';
import { checkPool, type AccountSeatASTNode, type ModelASTNode, type PoolNode } from './pool-node.js';
import { PoolState } from './pool-state.js';

/** How a model is chosen. */
export interface PoolModelSelectionOptions {
  /** 0 for the first attempt. Default: 0. */
  readonly retryAttempt?: number;
  /** Milliseconds since 1970. Default: now. */
  readonly nowMs?: number;
}

/** Refuses a moment that is none: milliseconds since 1970. */
function checkMoment(checks: FieldChecks, path: string, value: number): void {
  if (!Number.isFinite(value)) checks.note(path, value, 'is no such number', 'give milliseconds since 1970');
}

/**
 * Chooses seats and models for runs: all turns and child forks of a run keep its account seat until that is rate
 * limited, and retries climb to better models.
 */
export class PoolManager {
  readonly #pools = new Map<string, PoolState>();

  #stateOf(poolId: string): PoolState {
    const known = this.#pools.get(poolId);
    if (known !== undefined) return known;
    const state = new PoolState();
    this.#pools.set(poolId, state);
    return state;
  }

  /**
   * The seat that a run works with: the one it has, unless that cools down; else one by the pool's strategy among
   * those that do not; else the pool's `fallbackItem`; without one, the seat whose cooldown ends first.
   *
   * @param pool seats, and how to choose; what it says counts for this call
   * @param runId children and turns of a run give its id to keep its seat
   * @param nowMs milliseconds since 1970. Default: now
   * @returns one of the pool's own objects
   * @throws DuctorError invalid_argument, naming the fields of the pool that are wrong, or that a strategy in code
   *   chose what it was not given
   */
  selectSeat<TSeat extends AccountSeatASTNode>(
    pool: PoolNode<TSeat>,
    runId: string,
    nowMs: number = Date.now(),
  ): TSeat {
    checkPool(pool, 'seats');
    const checks = new FieldChecks('choice of a seat');
    checks.name('runId', runId);
    checkMoment(checks, 'nowMs', nowMs);
    checks.done();
    const { poolId, items, strategy = 'round-robin' } = pool;
    const state = this.#stateOf(poolId);
    const boundId = state.bindings.get(runId);
    const bound = items.find(({ id }) => id === boundId);
    if (bound !== undefined && !state.isCooling(bound, nowMs)) return bound;
    const free = items.filter((item) => weightOf(item) > 0 && !state.isCooling(item, nowMs));
    const choice = { poolId, runId, retryAttempt: 0, nowMs };
    const chosen = strategy === 'escalate-on-retry' ? undefined : choose(strategy, items, free, state.rotation, choice);
    if (chosen !== undefined) {
      state.bindings.set(runId, chosen.id);
      return chosen;
    }
    state.bindings.delete(runId);
    return state.lastResort(pool) as TSeat;
  }

  /**
   * The model for an attempt: the one that is given; or of a pool of models one by its strategy among those that do not
   * cool down; else its `fallbackItem`; without one, the model whose cooldown ends first.
   *
   * `escalate-on-retry` holds the items to be tiers, the first the lowest: attempt n begins at tier n, passes those
   * that cool down, and those whose share of successes over `minSamples` outcomes or more is under `minSuccessRate`;
   * when that leaves none, it takes the highest that does not cool down.
   *
   * @param modelOrPool a model is returned as it is
   * @param options number of the retry, or more. Default: 0
   * @returns the model itself, or one of the pool's own objects
   * @throws DuctorError as `selectSeat`
   */
  selectModel<TModel extends ModelASTNode>(
    modelOrPool: TModel | PoolNode<TModel>,
    runId: string,
    options: number | PoolModelSelectionOptions = 0,
  ): TModel {
    if (!('items' in modelOrPool)) return modelOrPool;
    const pool: PoolNode<TModel> = modelOrPool;
    checkPool(pool, 'models');
    const { retryAttempt = 0, nowMs = Date.now() } = typeof options === 'number' ? { retryAttempt: options } : options;
    const checks = new FieldChecks('choice of a model');
    checks.name('runId', runId);
    if (!(Number.isSafeInteger(retryAttempt) && retryAttempt >= 0)) {
      checks.note('retryAttempt', retryAttempt, 'is no such number', 'give a whole number from 0 on');
    }
    checkMoment(checks, 'nowMs', nowMs);
    checks.done();
    const { poolId, items, strategy = 'round-robin' } = pool;
    const state = this.#stateOf(poolId);
    const free = items.filter((item) => weightOf(item) > 0 && !state.isCooling(item, nowMs));
    const chosen =
      strategy === 'escalate-on-retry'
        ? escalate(pool, free, state, runId, retryAttempt)
        : choose(strategy, items, free, state.rotation, { poolId, runId, retryAttempt, nowMs });
    return chosen ?? (state.lastResort(pool) as TModel);
  }

  /**
   * Notes that a seat or model was rate limited: until the limit resets nobody gets it, and every run that was bound to
   * it goes to another one. An earlier moment than one that was noted before changes nothing.
   *
   * @param candidateId seat.id, model.modelId or model.alias
   * @param resetAtMs milliseconds since 1970
   * @throws DuctorError invalid_argument for empty names or a moment that is no number
   */
  recordRateLimit429(poolId: string, candidateId: string, resetAtMs: number): void {
    const checks = new FieldChecks('rate limit');
    checks.name('poolId', poolId);
    checks.name('candidateId', candidateId);
    checkMoment(checks, 'resetAtMs', resetAtMs);
    checks.done();
    const { cooldowns, bindings } = this.#stateOf(poolId);
    cooldowns.set(candidateId, Math.max(cooldowns.get(candidateId) ?? 0, resetAtMs));
    for (const [runId, seatId] of bindings) if (seatId === candidateId) bindings.delete(runId);
  }

  /**
   * Notes how an execution by a model ended.
   *
   * @param candidateId model.modelId or model.alias; what is noted under either counts for the model
   * @param succeeded true when it completed and passed evaluation
   * @throws DuctorError invalid_argument for empty names or an outcome that is no boolean
   */
  recordModelOutcome(poolId: string, candidateId: string, succeeded: boolean): void {
    const checks = new FieldChecks('outcome');
    checks.name('poolId', poolId);
    checks.name('candidateId', candidateId);
    if (typeof succeeded !== 'boolean') {
      checks.note('succeeded', succeeded, `is ${kindOf(succeeded)}`, 'give true or false');
    }
    checks.done();
    const { outcomes } = this.#stateOf(poolId);
    const known = outcomes.get(candidateId) ?? { sampleCount: 0, successCount: 0 };
    known.sampleCount += 1;
    if (succeeded) known.successCount += 1;
    outcomes.set(candidateId, known);
  }

  /**
   * Unbinds a run from its seats in every pool. To be called when the run has ended.
   *
   * @throws DuctorError invalid_argument for an empty name
   */
  releaseRunSeats(runId: string): void {
    const checks = new FieldChecks('end of a run');
    checks.name('runId', runId);
    checks.done();
    for (const { bindings, tiers } of this.#pools.values()) {
      bindings.delete(runId);
      tiers.delete(runId);
    }
  }
}
