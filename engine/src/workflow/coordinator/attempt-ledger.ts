/**
 * Which attempts are out with which worker, as far as this node knows: memory that only saves doubled and lost work,
 * never decides anything. What has to be out is said by the state of the run alone.
 *
 * An attempt that this node sent for the first time is not in the ledger until a worker has it.
 *   (none) -> out (a worker has it) -> answered (its result waits for the commit) -> (none)
 *   out -> orphan (its worker is gone, the grace is over) -> again | out
 *   again (to be sent a second time: another worker may have it after all) -> out | expected
 *   (none) -> expected (the journal says it runs on a worker that has not named it) -> out | (none)
 * A worker: connected <-> gone since a moment.
 * Invariants:
 * 1. An attempt is with at most one worker.
 * 2. An attempt is `out` only with a worker that is connected, or gone for less than the grace.
 * 3. "lost" is said only of attempts whose worker has been gone, or has not named them, for the whole of
 *    workerLostAfterMs, or came back without them.
 */
import type { Clock } from '../../kernel/index.js';
import type { CoordinatorOptions } from './options.js';
import { delayQueue } from './delay-queue.js';
import type { AttemptRef, RunKey } from './ports.js';

/** An attempt in the ledger. */
export interface LedgerAttempt {
  readonly ref: AttemptRef;
  state: 'out' | 'answered' | 'orphan' | 'again' | 'expected';
  /** Who has it or had it last; null when nobody is known. */
  workerId: string | null;
  /** When the worker got it, microseconds since 1970. */
  startedAtUs: number;
  /** It waits in the queue of those to be noted. */
  isNoteQueued: boolean;
  /** Raised with each placing and each absence, so that waits begun before end nothing. */
  absence: number;
}

/** What the ledger tells its owner. */
export interface LedgerListener {
  /** These attempts have been running for a while: note them. */
  readonly note: (attempts: readonly LedgerAttempt[]) => void;
  /** Compare what must be out with what is out. */
  readonly recheck: (run: RunKey) => void;
  /** The worker of this attempt is gone for good. */
  readonly lost: (ref: AttemptRef) => void;
}

interface WorkerRecord {
  isConnected: boolean;
  readonly attempts: Map<string, LedgerAttempt>;
}

function nameOf(ref: AttemptRef): string {
  return `${ref.tenantId}/${ref.runId}/${ref.path}/${ref.attempt}`;
}

/** Attempts that are out. */
export class AttemptLedger {
  readonly #attempts = new Map<string, LedgerAttempt>();
  readonly #workers = new Map<string, WorkerRecord>();
  /** Workers asked for their inventory, with the waits for it. */
  readonly #asked = new Map<string, (() => void)[]>();
  readonly #notes;
  readonly #graces;
  readonly #losses;

  constructor(
    readonly clock: Clock,
    options: CoordinatorOptions,
    readonly listener: LedgerListener,
  ) {
    this.#notes = delayQueue<LedgerAttempt>(clock, options.noteAfterMs, (due) => this.#noteDue(due));
    this.#graces = delayQueue<() => void>(clock, options.reconnectGraceMs, (due) => due.forEach((end) => end()));
    this.#losses = delayQueue<() => void>(clock, options.workerLostAfterMs, (due) => due.forEach((end) => end()));
  }

  /** Attempts in the ledger. */
  get size(): number {
    return this.#attempts.size;
  }

  get(ref: AttemptRef): LedgerAttempt | undefined {
    return this.#attempts.get(nameOf(ref));
  }

  isConnected(workerId: string): boolean {
    return this.#workers.get(workerId)?.isConnected ?? false;
  }

  /**
   * A worker has this attempt now. One that was sent before is noted at once: a body that ends its worker's process
   * within moments would otherwise be sent again for ever, as the same attempt, and take one worker after the other.
   *
   * @param noteNow tell the listener at once instead of after noteAfterMs
   */
  out(workerId: string, ref: AttemptRef, noteNow: boolean): void {
    const wasSentBefore = this.get(ref)?.state === 'again';
    const attempt = this.#place(workerId, ref);
    if (attempt.state !== 'answered') attempt.state = 'out';
    attempt.startedAtUs = this.clock.nowUs();
    if (!this.isConnected(workerId)) this.#gone(workerId, [attempt]);
    else if (noteNow || wasSentBefore) this.listener.note([attempt]);
    else this.queueNote(attempt);
  }

  /**
   * The journal says that this attempt runs on this worker, and no inventory has named it: it is expected, also of a
   * worker that is here, which may have lost it on its way or answer late.
   */
  noted(workerId: string, ref: AttemptRef): void {
    const known = this.get(ref);
    // "again" is what this node wanted before another one owned the run, and gave the attempt to this worker.
    if (known !== undefined && known.state !== 'again') return;
    const attempt = this.#place(workerId, ref);
    attempt.state = 'expected';
    this.#gone(workerId, [attempt]);
  }

  /** Queues the attempt for noting, unless it is queued. */
  queueNote(attempt: LedgerAttempt): void {
    if (attempt.isNoteQueued) return;
    attempt.isNoteQueued = true;
    this.#notes.push(attempt);
  }

  /** Its result was handed in. */
  answered(ref: AttemptRef): void {
    const name = nameOf(ref);
    const attempt = this.#attempts.get(name) ?? this.#create(name, ref);
    attempt.state = 'answered';
  }

  /** It is sent again: a worker that is not known here may have it. */
  again(ref: AttemptRef): void {
    const name = nameOf(ref);
    const attempt = this.#attempts.get(name) ?? this.#create(name, ref);
    this.#detach(name, attempt);
    attempt.state = 'again';
  }

  /** It is settled: forgotten. */
  clear(ref: AttemptRef): void {
    const name = nameOf(ref);
    const attempt = this.#attempts.get(name);
    if (attempt === undefined) return;
    this.#detach(name, attempt);
    this.#attempts.delete(name);
  }

  /** The worker is there, with exactly these attempts. */
  connected(workerId: string, holds: readonly AttemptRef[]): void {
    const worker = this.#worker(workerId);
    const wasGone = !worker.isConnected;
    worker.isConnected = true;
    const held = new Set(holds.map(nameOf));
    for (const ref of holds) {
      const attempt = this.#place(workerId, ref);
      if (attempt.state !== 'answered') attempt.state = 'out';
      if (attempt.startedAtUs === 0) attempt.startedAtUs = this.clock.nowUs();
      this.listener.recheck(ref);
    }
    // While it stayed connected, tasks may be on their way to it: only a reconnect proves what it does not hold.
    if (wasGone) this.#notHeld(worker, held);
    this.#answerAsked(workerId);
  }

  /** The last stream of the worker ended. */
  gone(workerId: string): void {
    const worker = this.#worker(workerId);
    if (!worker.isConnected) return;
    worker.isConnected = false;
    this.#answerAsked(workerId);
    this.#gone(workerId, [...worker.attempts.values()]);
    if (worker.attempts.size === 0) this.#workers.delete(workerId);
  }

  /** The worker cannot speak and is not dead: what it has, or is expected of it, has the whole time again. */
  alive(workerId: string): void {
    const worker = this.#workers.get(workerId);
    if (worker === undefined) return;
    const waited = [...worker.attempts.values()].filter(({ state }) => !worker.isConnected || state === 'expected');
    if (waited.length > 0) this.#gone(workerId, waited);
  }

  /** Resolves when each of these workers has said what it holds, or is gone. */
  async inventories(workerIds: readonly string[]): Promise<void> {
    const waits = workerIds.map(
      (workerId) =>
        new Promise<void>((resolve) => {
          this.#asked.set(workerId, [...(this.#asked.get(workerId) ?? []), resolve]);
        }),
    );
    await Promise.all(waits);
  }

  /** Forgets everything and clears all timers. */
  stop(): void {
    this.#notes.clear();
    this.#graces.clear();
    this.#losses.clear();
    this.#attempts.clear();
    this.#workers.clear();
    for (const workerId of [...this.#asked.keys()]) this.#answerAsked(workerId);
  }

  /** Gives a worker that is not there the grace, then its attempts the time until they count as lost. */
  #gone(workerId: string, attempts: readonly LedgerAttempt[]): void {
    const waits = attempts.map((attempt) => ({ attempt, absence: (attempt.absence += 1) }));
    const isStillGone = ({
      attempt,
      absence,
    }: {
      readonly attempt: LedgerAttempt;
      readonly absence: number;
    }): boolean => {
      const isMissing = attempt.state === 'expected' || !this.isConnected(workerId);
      return attempt.workerId === workerId && attempt.absence === absence && isMissing;
    };
    this.#graces.push(() => {
      for (const wait of waits) {
        if (!isStillGone(wait) || wait.attempt.state !== 'out') continue;
        wait.attempt.state = 'orphan';
        this.listener.recheck(wait.attempt.ref);
      }
    });
    this.#losses.push(() => {
      for (const wait of waits) {
        if (isStillGone(wait) && wait.attempt.state !== 'answered') this.lose(wait.attempt.ref);
      }
    });
  }

  #noteDue(due: readonly LedgerAttempt[]): void {
    const running: LedgerAttempt[] = [];
    for (const attempt of due) {
      attempt.isNoteQueued = false;
      const isHere = attempt.workerId !== null && this.isConnected(attempt.workerId);
      if (attempt.state === 'out' && isHere && this.get(attempt.ref) === attempt) running.push(attempt);
    }
    if (running.length > 0) this.listener.note(running);
  }

  /** A worker came back without these: un-noted ones are sent again, noted ones are lost. */
  #notHeld(worker: WorkerRecord, held: ReadonlySet<string>): void {
    for (const [name, attempt] of [...worker.attempts]) {
      if (held.has(name) || attempt.state === 'answered') continue;
      if (attempt.state === 'expected') {
        this.#lose(name, attempt);
      } else {
        attempt.state = 'orphan';
        this.listener.recheck(attempt.ref);
      }
    }
  }

  /** Says "lost" of an orphan that turned out to be noted. */
  lose(ref: AttemptRef): void {
    const name = nameOf(ref);
    const attempt = this.#attempts.get(name);
    if (attempt !== undefined) this.#lose(name, attempt);
  }

  #lose(name: string, attempt: LedgerAttempt): void {
    this.#detach(name, attempt);
    this.#attempts.delete(name);
    this.listener.lost(attempt.ref);
  }

  #worker(workerId: string): WorkerRecord {
    const known = this.#workers.get(workerId);
    if (known !== undefined) return known;
    const record: WorkerRecord = { isConnected: false, attempts: new Map() };
    this.#workers.set(workerId, record);
    return record;
  }

  #create(name: string, ref: AttemptRef): LedgerAttempt {
    const attempt: LedgerAttempt = {
      ref,
      state: 'out',
      workerId: null,
      startedAtUs: 0,
      isNoteQueued: false,
      absence: 0,
    };
    this.#attempts.set(name, attempt);
    return attempt;
  }

  /** Puts the attempt with this worker and takes it from any other. */
  #place(workerId: string, ref: AttemptRef): LedgerAttempt {
    const name = nameOf(ref);
    const attempt = this.#attempts.get(name) ?? this.#create(name, ref);
    if (attempt.workerId !== workerId) this.#detach(name, attempt);
    attempt.workerId = workerId;
    attempt.absence += 1;
    this.#worker(workerId).attempts.set(name, attempt);
    return attempt;
  }

  #detach(name: string, attempt: LedgerAttempt): void {
    const worker = attempt.workerId === null ? undefined : this.#workers.get(attempt.workerId);
    worker?.attempts.delete(name);
    if (worker !== undefined && worker.attempts.size === 0 && !worker.isConnected && attempt.workerId !== null) {
      this.#workers.delete(attempt.workerId);
    }
    attempt.workerId = null;
  }

  #answerAsked(workerId: string): void {
    const waits = this.#asked.get(workerId) ?? [];
    this.#asked.delete(workerId);
    for (const resolve of waits) resolve();
  }
}
