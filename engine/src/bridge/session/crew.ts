/**
 * The workers of this node: their sessions, what each of them has, and what the coordinator is told of them.
 *
 *   worker:  (none) -> here (first session) <-> away (last session ended) -> (none) after FORGET_WORKER_MS
 *
 * A worker opens one stream to a node. When a second one comes, the first may be a connection that is dead and does not
 * know it: it is suspect until it shows life. When a session ends while another one of the worker is there, what was
 * sent by the ended one may be lost with it: the worker is asked, and the coordinator hears of an absence before the
 * answer, because only an answer after an absence proves what a worker does not have.
 *
 * Invariants:
 * 1. `workerConnected` comes before `sent` of a worker; `workerGone` when its last session ended.
 * 2. What a worker is said to hold is what it named, and what its open sessions sent, which has perhaps not arrived.
 */
import { DuctorError, equalBytes, type Clock } from '../../kernel/index.js';
import { attemptKey } from '../attempt-key.js';
import { FORGET_WORKER_MS } from '../limits.js';
import type { AbortOrder, AttemptRef, BridgeCoordinator } from '../ports.js';
import { AttemptsOut, type OutAttempt } from './attempts-out.js';
import type { Session } from './session.js';
import { workerName, type Worker } from './worker.js';

/** Workers and what they have. */
export class Crew {
  readonly #clock: Clock;
  readonly #coordinator: () => BridgeCoordinator;
  readonly #workers = new Map<string, Worker>();
  readonly #workerOf = new Map<Session, Worker>();
  readonly #out = new AttemptsOut<Session, Worker>();

  /** @param coordinator who is told; asked for at each use, because it is built after the bridge */
  constructor(clock: Clock, coordinator: () => BridgeCoordinator) {
    this.#clock = clock;
    this.#coordinator = coordinator;
  }

  /** Attempts that are with workers. */
  get attempts(): number {
    return this.#out.size;
  }

  /** Workers with a session. */
  get present(): number {
    return [...this.#workers.values()].filter(({ sessions }) => sessions.size > 0).length;
  }

  /**
   * Before a session joins: a worker that has a stream of its own here is not borrowed. Throws worker_superseded when
   * the session is that of a worker lent by another node who is here; relays of a worker who comes are let go.
   */
  makeWay(session: Session, tenantId: string, workerId: string): void {
    const others = this.#workers.get(workerName(tenantId, workerId))?.sessions ?? [];
    for (const other of others) {
      if (session.relayedBy !== null)
        throw new DuctorError('worker_superseded', 'the worker has a stream to this node');
      if (other.relayedBy !== null) other.announceDraining();
    }
  }

  /** A registered session: becomes one of its worker. */
  join(session: Session, tenantId: string, workerId: string): void {
    const name = workerName(tenantId, workerId);
    let worker = this.#workers.get(name);
    if (worker === undefined) {
      worker = { name, sessions: new Set(), mustProve: false, forgetting: null };
      this.#workers.set(name, worker);
    }
    worker.forgetting?.cancel();
    worker.forgetting = null;
    for (const older of worker.sessions) older.suspect();
    worker.sessions.add(session);
    this.#workerOf.set(session, worker);
  }

  /** A session of a worker ended. */
  leave(session: Session): void {
    const worker = this.#workerOf.get(session);
    if (worker === undefined) return;
    this.#workerOf.delete(session);
    worker.sessions.delete(session);
    const detached = this.#out.detach(worker, session);
    const [other] = worker.sessions;
    if (other === undefined) {
      worker.forgetting = this.#clock.setTimer(FORGET_WORKER_MS, () => this.#forget(worker));
      this.#coordinator().workerGone(worker.name);
      this.#askAgain(detached);
    } else if (detached.length > 0) {
      worker.mustProve = true;
      other.askInventory();
    }
  }

  /** A worker shows by another way than its streams that it lives. */
  alive(tenantId: string, workerId: string): void {
    const name = workerName(tenantId, workerId);
    for (const session of this.#workers.get(name)?.sessions ?? []) session.alive();
    this.#coordinator().workerAlive?.(name);
  }

  /** A worker says what it holds. */
  takeInventory(session: Session, holds: readonly AttemptRef[]): void {
    const worker = this.#workerOf.get(session);
    if (worker === undefined) return;
    const named = new Map(holds.map((ref) => [attemptKey(ref), ref]));
    const missing: OutAttempt<Session, Worker>[] = [];
    for (const out of this.#out.of(worker)) {
      const key = attemptKey(out.ref);
      if (named.has(key)) continue;
      if (out.session === null) missing.push(out);
      else named.set(key, out.ref);
    }
    for (const out of missing) this.#out.delete(out.ref);
    for (const ref of holds) this.#holdOne(session, worker, ref);
    if (worker.mustProve) this.#coordinator().workerGone(worker.name);
    worker.mustProve = false;
    this.#coordinator().workerConnected(worker.name, [...named.values()]);
    this.#askAgain(missing);
  }

  /** Asks every worker what it holds. Returns their names. */
  askInventories(): readonly string[] {
    const asked: string[] = [];
    for (const { name, sessions } of this.#workers.values()) {
      const session = [...sessions].find(({ isOpen }) => isOpen);
      if (session === undefined) continue;
      session.askInventory();
      asked.push(name);
    }
    return asked;
  }

  /** These attempts were written to the session, each with the token at its place. */
  sent(session: Session, refs: readonly AttemptRef[], tokens: readonly Buffer[]): void {
    const worker = this.#workerOf.get(session);
    if (worker === undefined) return;
    refs.forEach((ref, at) => this.#out.set(ref, worker, session, tokens[at] ?? null));
    this.#coordinator().sent(worker.name, refs);
  }

  /**
   * Whether this is the token that was last sent with the attempt. That spares the HMAC that would prove it: 24 us of
   * the bridge's CPU a task became 19 (bench/bridge/stream.ts, 64 in flight).
   */
  gave(ref: AttemptRef, token: Uint8Array): boolean {
    const sent = this.#out.get(ref)?.token ?? null;
    return sent !== null && equalBytes(sent, token);
  }

  /** The attempt has an outcome: nobody has it any more. */
  settled(ref: AttemptRef): void {
    this.#out.delete(ref);
  }

  /**
   * Whether a worker that is here has the attempt. One whose worker is away is forgotten by this question: whoever asks
   * is about to send it again. One whose worker is here is marked, so that the question is not lost with that worker.
   */
  hasOrForgets(ref: AttemptRef): boolean {
    const out = this.#out.get(ref);
    if (out === undefined) return false;
    if (out.session === null) {
      this.#out.delete(ref);
      return false;
    }
    out.isWanted = true;
    return true;
  }

  /** Name of the worker that has the attempt, if one here has it. */
  workerOf(ref: AttemptRef): string | undefined {
    const out = this.#out.get(ref);
    return out === undefined || out.session === null ? undefined : out.worker.name;
  }

  /** Tells whoever has the attempt to stop, now or when it comes back. */
  abort(order: AbortOrder): void {
    const out = this.#out.get(order);
    if (out === undefined) return;
    out.abort = order.reason;
    out.session?.abort(order);
  }

  /** Clears all timers. */
  stop(): void {
    for (const { forgetting } of this.#workers.values()) forgetting?.cancel();
  }

  /** The session's worker has this attempt; another one that is here and was given it keeps it in the books. */
  #holdOne(session: Session, worker: Worker, ref: AttemptRef): void {
    const known = this.#out.get(ref);
    if (known !== undefined && known.session !== null) return;
    this.#out.set(ref, worker, session, known?.token ?? null);
    if (known?.abort) session.abort({ ...ref, reason: known.abort });
  }

  /**
   * Of these attempts, which no worker here has any more, some were dispatched in vain: the coordinator had learnt
   * before us that their worker was gone. It dispatches them again.
   */
  #askAgain(attempts: readonly OutAttempt<Session, Worker>[]): void {
    const wanted = attempts
      .filter((out) => out.isWanted)
      .map(({ ref }) => ({ tenantId: ref.tenantId, runId: ref.runId }));
    for (const out of attempts) out.isWanted = false;
    if (wanted.length > 0) this.#coordinator().recheck(wanted);
  }

  #forget(worker: Worker): void {
    this.#out.forget(worker);
    this.#workers.delete(worker.name);
  }
}
