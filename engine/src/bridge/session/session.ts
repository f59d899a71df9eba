/**
 * One worker's stream to this node.
 *
 *   greeting --hello--> registering --registered--> open --> closed
 *   any state --> closed: the stream ended, a bound was passed, the hello was late, pings were left unanswered
 *
 * An open session is given tasks while it has credits and none of these hold: the stream is full, this node drains, the
 * worker drains or has finished, it is suspect (a newer stream of the same worker is there and this one has not shown
 * life since).
 *
 * Invariants:
 * 1. Tasks sent never exceed credits granted; credits never exceed the worker's slots.
 * 2. A result is acknowledged at most once, and as recorded or settled only after the coordinator said so.
 * 3. After a turn in which write() said false nothing is written until the stream has drained.
 * 4. Results waiting in the coordinator are bounded: beyond that the stream is not read.
 */
import { DuctorError, type Timer } from '../../kernel/index.js';
import type { Principal } from '../../tenancy/index.js';
import { AckState, type SubStepResult, type TaskHeartbeat, type TaskResult } from '../../gen/ductor/v1/bridge.js';
import type { WorkerHello, WorkRequest } from '../../gen/ductor/v1/bridge.js';
import {
  CUT_BYTES,
  HELLO_TIMEOUT_MS,
  LINGER_MS,
  MAX_NAME_CHARS,
  MAX_PROGRESS_BYTES,
  MAX_STEP_PATH_CHARS,
  MAX_UNANSWERED_PINGS,
  PING_INTERVAL_MS,
  SPARE_RESULTS,
  SUSPECT_MS,
} from '../limits.js';
import type { AbortOrder, AttemptRef, ResultAck, Task } from '../ports.js';
import type { Consumer } from '../queue/fair-queue.js';
import { checkHello } from '../wire/check-hello.js';
import { outcomeFromWire, subStepFromWire } from '../wire/outcome-from-wire.js';
import { taskToWire } from '../wire/task-to-wire.js';
import { Outbox } from './outbox.js';
import type { Registrations } from './register.js';
import type { SessionHost } from './session-host.js';
import type { WorkStream, WorkStreamEvents } from './work-stream.js';

type State = 'greeting' | 'registering' | 'open' | 'closed';

const ACK_STATES: Readonly<Record<ResultAck, AckState>> = {
  recorded: AckState.ACK_STATE_RECORDED,
  already_settled: AckState.ACK_STATE_ALREADY_SETTLED,
};
const WRONG_TOKEN = 'the token was not made for this attempt';
/** While a full stream has so many acks waiting, it is not read. */
const MAX_BACKLOG = 10_000;

/** A stream and its state. Given its place in the queue by the host. */
export class Session implements WorkStreamEvents {
  consumer: Consumer<Session> | null = null;
  readonly outbox = new Outbox();
  #state: State = 'greeting';
  #slots = 0;
  #credits = 0;
  #most = 1;
  #hasAskedForCredits = false;
  #isFull = false;
  #isPaused = false;
  #isSuspect = false;
  #isWorkerDraining = false;
  #isFinished = false;
  #pendingResults = 0;
  #lastPing = 0n;
  #unansweredPings = 0;
  /** Tasks put in the outbox and not written yet. */
  #given: Task[] = [];
  /** Their tokens, in the same order. */
  #givenTokens: Buffer[] = [];
  /** Messages that came while the definitions were registered. */
  #early: WorkRequest[] = [];
  #timer: Timer;
  #suspicion: Timer | null = null;

  constructor(
    readonly host: SessionHost<Session>,
    readonly principal: Principal,
    readonly stream: WorkStream,
    readonly registered: Registrations | null = null,
    readonly relayedBy: string | null = null,
  ) {
    this.#timer = host.clock.setTimer(HELLO_TIMEOUT_MS, () => {
      this.close(new DuctorError('worker_unresponsive', `no hello within ${HELLO_TIMEOUT_MS} ms`));
    });
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Results handed in and not answered yet. */
  get pendingResults(): number {
    return this.#pendingResults;
  }

  /** Most credits it had, less those that were given back: so many slots it has when nothing runs. */
  get most(): number {
    return this.#most;
  }

  /** How many slots it may be given now. */
  room(isNodeDraining: boolean): number {
    const isTaking = this.isOpen && !this.#isFull && !this.#isSuspect && !this.#isWorkerDraining && !this.#isFinished;
    return isTaking && !isNodeDraining && this.outbox.taskBytes < CUT_BYTES ? this.#credits : 0;
  }

  received(message: WorkRequest): void {
    if (this.#state === 'closed') return;
    this.#isSuspect = false;
    try {
      if (this.#state === 'greeting') this.#greet(message);
      else if (this.#state === 'registering') this.#early.push(message);
      else this.#take(message);
    } catch (error) {
      this.close(DuctorError.from(error));
    }
  }

  drained(): void {
    this.#isFull = false;
    this.host.changed(this);
  }

  finished(): void {
    this.#isFinished = true;
    if (this.#state !== 'open') {
      this.close(null);
      return;
    }
    this.#timer.cancel();
    this.#timer = this.host.clock.setTimer(LINGER_MS, () => this.close(null));
    this.host.changed(this);
  }

  gone(): void {
    this.#close(() => undefined);
  }

  /** Ends the stream: well (null) or with an error. */
  close(error: DuctorError | null): void {
    this.#close(() => this.stream.end(error));
  }

  /** Puts a task in the outbox and takes its credits. */
  give(task: Task, token: Buffer): void {
    this.#credits -= task.slots;
    this.#given.push(task);
    this.#givenTokens.push(token);
    this.outbox.task(taskToWire(task, token));
  }

  /** Tells the worker to stop an attempt. */
  abort({ runId, path, attempt, reason }: AbortOrder): void {
    this.outbox.abort({ runId, path, attempt, reason });
    this.host.changed(this);
  }

  /** The worker lives, whatever this stream says: pings that it has not answered do not count. */
  alive(): void {
    this.#unansweredPings = 0;
  }

  /** Takes credits out, for another node to use. */
  lend(credits: number): void {
    this.#credits -= credits;
    this.host.changed(this);
  }

  /** Credits that the other node has not used are here again. */
  takeBack(credits: number): void {
    this.#credits += credits;
    this.host.changed(this);
  }

  /** Takes what the worker said for another node, which cannot be told any more. */
  takeAgain(message: WorkRequest): void {
    if (!this.isOpen) return;
    try {
      this.#take(message);
    } catch (error) {
      this.close(DuctorError.from(error));
    }
  }

  /** Asks the worker what it holds. */
  askInventory(): void {
    this.outbox.inventoryRequest = true;
    this.host.changed(this);
  }

  /** Tells the worker that this node goes away. */
  announceDraining(): void {
    this.outbox.draining = true;
    this.host.changed(this);
  }

  /** A newer stream of the worker is there: this one must show life soon, and gets nothing until it does. */
  suspect(): void {
    if (!this.isOpen || this.#isSuspect) return;
    this.#isSuspect = true;
    this.#ping();
    this.#suspicion = this.host.clock.setTimer(SUSPECT_MS, () => {
      if (!this.#isSuspect) return;
      this.close(new DuctorError('worker_superseded', `no sign of life within ${SUSPECT_MS} ms of a newer stream`));
    });
    this.host.changed(this);
  }

  /** Sends what is in the outbox. Called once a turn. */
  flush(): void {
    if (!this.isOpen) return;
    this.#askForCredits();
    if (!this.#isFull) {
      // What gathered in one turn is bounded, so all of it goes, and a stream that is full begins no further turn.
      while (!this.outbox.isEmpty) if (!this.stream.write(this.outbox.next())) this.#isFull = true;
      const [written, tokens] = [this.#given, this.#givenTokens];
      this.#given = [];
      this.#givenTokens = [];
      if (written.length > 0) this.host.sent(this, written, tokens);
    }
    this.#readOrNot();
    if (this.#isFinished && this.#pendingResults === 0 && this.outbox.isEmpty) this.close(null);
  }

  /** Tasks that were given and not written. */
  takeUnwritten(): readonly Task[] {
    const tasks = this.#given;
    this.#given = [];
    this.#givenTokens = [];
    return tasks;
  }

  #close(endStream: () => void): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#timer.cancel();
    this.#suspicion?.cancel();
    this.#early = [];
    endStream();
    this.host.ended(this);
  }

  #greet({ hello, ...rest }: WorkRequest): void {
    if (hello === undefined) throw new DuctorError('invalid_argument', 'the first message must carry hello');
    checkHello(hello);
    this.#state = 'registering';
    this.#slots = hello.slots;
    this.#early.push({ hello: undefined, ...rest });
    // Read on only when registered: what comes meanwhile stays in the stream.
    this.stream.pause();
    const registering = this.registered === null ? this.host.register(this, hello) : Promise.resolve(this.registered);
    registering.then(
      (registrations) => this.#open(hello, registrations),
      (error: unknown) => this.close(DuctorError.from(error)),
    );
  }

  #open(hello: WorkerHello, registrations: Registrations): void {
    if (this.#state !== 'registering') return;
    this.#state = 'open';
    this.#timer.cancel();
    this.#timer = this.host.clock.setTimer(PING_INTERVAL_MS, () => this.#pingDue());
    const early = this.#early;
    this.#early = [];
    try {
      this.host.joined(this, hello, registrations);
      this.host.inventory(this, this.#holds(hello.inventory?.holds ?? []));
      for (const message of early) this.#take(message);
      this.stream.resume();
    } catch (error) {
      this.close(DuctorError.from(error));
    }
  }

  #take(said: WorkRequest): void {
    const message = this.host.divert(this, said);
    const { hello, results, subResults, credits, inventory, revoke, draining, pong } = message;
    if (hello !== undefined) throw new DuctorError('invalid_argument', 'a stream carries one hello');
    for (const beat of message.heartbeats) this.#takeHeartbeat(beat);
    for (const answer of message.strategyAnswers) this.host.answered(this, answer);
    for (const part of subResults) this.#takeSubResult(part);
    for (const result of results) this.#takeResult(result);
    if (credits > 0) this.#grant(credits);
    if (revoke > 0) {
      const back = Math.min(revoke, this.#credits);
      this.#credits -= back;
      this.#most = Math.max(1, this.#most - back);
      this.outbox.revoked = (this.outbox.revoked ?? 0) + back;
    }
    if (draining) this.#isWorkerDraining = true;
    if (pong === this.#lastPing) this.#unansweredPings = 0;
    if (inventory !== undefined) this.host.inventory(this, this.#holds(inventory.holds));
    if (results.length + subResults.length > 0) this.#readOrNot();
    this.host.changed(this);
  }

  #grant(credits: number): void {
    this.#credits += credits;
    this.#most = Math.max(this.#most, this.#credits);
    this.#hasAskedForCredits = false;
    if (this.#credits <= this.#slots) return;
    throw new DuctorError('invalid_argument', `${this.#credits} credits on one stream of ${this.#slots} slots`);
  }

  #takeResult(result: TaskResult): void {
    const { resultId } = result;
    const ref = this.#refOf(result);
    if (ref === null) return this.#refuse(resultId, WRONG_TOKEN);
    const { outcome, problem } = outcomeFromWire(result);
    this.host.settle(ref, outcome, this.#acknowledge(resultId, problem));
  }

  #takeSubResult(part: SubStepResult): void {
    const ref = this.#refOf(part);
    if (ref === null) return this.#refuse(part.resultId, WRONG_TOKEN);
    const taken = subStepFromWire(part);
    if ('problem' in taken) return this.#refuse(part.resultId, taken.problem);
    this.host.keep(ref, taken, this.#acknowledge(part.resultId, ''));
  }

  #refuse(resultId: bigint, problem: string): void {
    this.outbox.ack({ resultId, state: AckState.ACK_STATE_REFUSED, problem });
  }

  /** Called when the coordinator has what the worker sent under this number. */
  #acknowledge(resultId: bigint, problem: string): (ack: ResultAck) => void {
    this.#pendingResults += 1;
    return (ack) => {
      this.#pendingResults -= 1;
      if (this.#state === 'closed') return;
      this.outbox.ack({ resultId, state: ACK_STATES[ack], problem });
      this.host.changed(this);
    };
  }

  /** A sign of life. Progress that is too large counts as one without. */
  #takeHeartbeat(beat: TaskHeartbeat): void {
    const ref = this.#refOf(beat);
    if (ref === null) return;
    const { progress } = beat;
    const isFine = progress !== undefined && progress.data.length <= MAX_PROGRESS_BYTES;
    const encoding = progress?.encoding.slice(0, MAX_NAME_CHARS) || 'json';
    this.host.heartbeat(ref, isFine ? { data: progress.data, encoding } : null);
  }

  /** The attempt that the worker names, in the tenant of its key; null unless the token proves it. */
  #refOf(named: Pick<TaskResult, 'runId' | 'path' | 'attempt' | 'token'>): AttemptRef | null {
    const { runId, path, attempt, token } = named;
    if (path.length > MAX_STEP_PATH_CHARS) return null;
    const ref = { tenantId: this.principal.tenantId, runId, path, attempt };
    return this.host.isGenuine(ref, token) ? ref : null;
  }

  #holds(holds: readonly Pick<TaskResult, 'runId' | 'path' | 'attempt' | 'token'>[]): readonly AttemptRef[] {
    return holds.map((hold) => this.#refOf(hold)).filter((ref) => ref !== null);
  }

  #askForCredits(): void {
    if (this.#credits > 0 || this.#hasAskedForCredits || this.#isWorkerDraining || this.#isFinished) return;
    const waiting = this.host.unserved(this);
    if (waiting === 0) return;
    this.#hasAskedForCredits = true;
    this.outbox.wanted = waiting;
  }

  #readOrNot(): void {
    const isTooMuch =
      this.#pendingResults > 4 * this.#slots + SPARE_RESULTS || (this.#isFull && this.outbox.backlog > MAX_BACKLOG);
    if (isTooMuch === this.#isPaused) return;
    this.#isPaused = isTooMuch;
    if (isTooMuch) this.stream.pause();
    else this.stream.resume();
  }

  #pingDue(): void {
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) {
      this.close(new DuctorError('worker_unresponsive', `${this.#unansweredPings} pings were left unanswered`));
      return;
    }
    this.#ping();
    this.#timer = this.host.clock.setTimer(PING_INTERVAL_MS, () => this.#pingDue());
  }

  #ping(): void {
    this.#lastPing += 1n;
    this.#unansweredPings += 1;
    this.outbox.ping = this.#lastPing;
    this.host.changed(this);
  }
}
