/**
 * A worker of this node, lent to another node: that node has a session with it whose stream runs through here. Numbers,
 * tokens and acknowledgements are the worker's and the other node's own; nothing is translated.
 *
 *   asking (the worker says what it holds) -> opening (dialled) -> open -> closing (credits called back) -> ended
 *   any -> ended: the line broke, the other node is gone, or the worker is
 *
 * Invariants:
 * 1. The other node's books hold its attempts, this node's do not: no ledger here hears of them. What is here of them
 *    is `#out`, to know whose result a result is, and is forgotten without harm: a result that nobody expects goes the
 *    usual way of a node that does not own the run, through the mailbox.
 * 2. Tasks taken never exceed the credits lent. Those that are not used are the worker's again at the end.
 * 3. What was passed on and not acknowledged when the line ends is handed in here.
 * 4. When the worker's session ends the line ends at once: for the other node the worker is gone.
 */
import type { Clock } from '../../kernel/index.js';
import { WorkRequest, type SubStepResult, type Task, type TaskResult } from '../../gen/ductor/v1/bridge.js';
import type { WorkerInventory, WorkResponse } from '../../gen/ductor/v1/bridge.js';
import { CUT_BYTES } from '../limits.js';
import type { Session } from '../session/session.js';
import type { Borrower } from './lending.js';
import type { RelayLine, RelayLineEvents } from './ports.js';

/** What a relay needs. */
export interface RelayParts {
  readonly clock: Clock;
  readonly session: Session;
  /** Opens the line; the worker holds this. */
  readonly dial: (holds: WorkerInventory, events: RelayLineEvents) => RelayLine;
  /** It ended by itself. */
  readonly ended: (relay: Relay, isRefused: boolean) => void;
  /** A task came for the worker. */
  readonly carried: () => void;
}

type Attempt = Pick<Task, 'runId' | 'path' | 'attempt'>;
/** An attempt of the other node that the worker has. */
interface Out {
  /** 0: it has ended and is not acknowledged. */
  readonly slots: number;
  readonly sinceMs: number;
}
/** At first everything that the worker can spare; it is asked for only while tasks wait. */
const FIRST_WANTS = 1_000;

/** How long a single credit is left to a node that has nothing else, before own tasks have it back. */
const ALONE_MS = 200;
/** Results that wait for the other node beyond four for each slot; further ones go through the mailbox. */
const SPARE_PENDING = 1_000;
/** What the worker does not name although it was sent so long ago, it does not have. */
const ON_ITS_WAY_MS = 10_000;

const keyOf = ({ runId, path, attempt }: Attempt): string => `${runId}/${attempt}/${path}`;
const slotsOf = ({ slots }: Task): number => Math.max(1, slots);
const bytesOf = ({ output }: Pick<SubStepResult, 'output'>): number => output?.data.length ?? 0;
const resultBytes = ({ outcome }: TaskResult): number =>
  outcome?.$case === 'output' ? bytesOf({ output: outcome.value }) : 0;

/** Those of a list that belong to one, and the rest. */
function split<T>(all: readonly T[], isMine: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isMine), all.filter((one) => !isMine(one))];
}

/** One of them. */
export class Relay implements Borrower {
  readonly #parts: RelayParts;
  #state: 'asking' | 'opening' | 'open' | 'closing' | 'ended' = 'asking';
  #line: RelayLine | null = null;
  #lent = 0;
  #wants = FIRST_WANTS;
  #running = 0;
  #isCalledBack = false;
  #isFinished = false;
  #isAskedHolds = false;
  #usedAtMs: number;
  #lentAtMs = 0;
  readonly #out = new Map<string, Out>();
  readonly #results = new Map<bigint, TaskResult>();
  readonly #subResults = new Map<bigint, SubStepResult>();
  #due: WorkRequest | null = null;
  #dueBytes = 0;

  constructor(parts: RelayParts) {
    this.#parts = parts;
    this.#usedAtMs = parts.clock.monotonicMs();
  }

  get lent(): number {
    return this.#lent;
  }

  get running(): number {
    return this.#running;
  }

  get wants(): number {
    return this.#wants;
  }

  get isTaking(): boolean {
    return this.#state === 'open' && !this.#isCalledBack;
  }

  /** Ends it when it has had nothing to do for so long; asks whether that is so where no task came for that long. */
  restAfter(ms: number): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (this.#state !== 'open' || nowMs - this.#usedAtMs < ms) return;
    this.#usedAtMs = nowMs;
    if (this.#out.size === 0) this.close();
    else this.#parts.session.askInventory();
  }

  /** Begins: asks the worker what it holds. */
  begin(): void {
    this.#parts.session.askInventory();
  }

  /** The worker says what it holds. */
  holds(inventory: WorkerInventory): void {
    this.#forgetUnheld(new Set(inventory.holds.map(keyOf)));
    if (this.#state === 'asking') {
      this.#state = 'opening';
      const received = (message: WorkResponse): void => this.#received(message);
      this.#line = this.#parts.dial(inventory, { received, ended: (error) => this.#ended(error !== null) });
    } else if (this.#isAskedHolds) {
      this.#isAskedHolds = false;
      this.#say((due) => (due.inventory = inventory));
    }
  }

  /** What the worker answered to another node, or lost, is not out here any more. */
  #forgetUnheld(held: ReadonlySet<string>): void {
    const beforeMs = this.#parts.clock.monotonicMs() - ON_ITS_WAY_MS;
    for (const [key, { slots, sinceMs }] of this.#out) {
      if (slots === 0 || sinceMs > beforeMs || held.has(key)) continue;
      this.#out.delete(key);
      this.#running -= slots;
    }
  }

  /** Takes out of a message of the worker what is about the other node's attempts; returns the rest. */
  divert(message: WorkRequest): WorkRequest {
    if (this.#out.size === 0 || !this.#isSaying || this.#isOverfull) return message;
    const isMine = (attempt: Attempt): boolean => this.#out.has(keyOf(attempt));
    const [results, otherResults] = split(message.results, isMine);
    const [parts, otherParts] = split(message.subResults, isMine);
    const [beats, otherBeats] = split(message.heartbeats, isMine);
    this.#passOn(results, parts, beats);
    return { ...message, results: otherResults, subResults: otherParts, heartbeats: otherBeats };
  }

  /** Signs of life that came by another way than the stream; those of other attempts are passed over. */
  beat(heartbeats: WorkRequest['heartbeats']): void {
    this.#passOn(
      [],
      [],
      heartbeats.filter((beat) => this.#out.has(keyOf(beat))),
    );
  }

  /** Lends credits of the worker. */
  lend(credits: number): void {
    this.#parts.session.lend(credits);
    this.#lent += credits;
    this.#wants = 0;
    this.#lentAtMs = this.#parts.clock.monotonicMs();
    this.#say((due) => (due.credits += credits));
  }

  /** Own tasks wait: asks for what was lent and is not used. A credit that stands alone has a moment to be used. */
  callBack(): void {
    const isAlone = this.#running === 0 && this.#lent === 1;
    if (!isAlone || this.#parts.clock.monotonicMs() - this.#lentAtMs >= ALONE_MS) this.#revoke();
  }

  /** Takes no more tasks, passes on what the worker still says of those it has, then ends. */
  close(): void {
    if (this.#state === 'asking' || this.#state === 'opening') return this.#ended(false);
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#say((due) => (due.draining = true));
    this.#revoke();
    this.#finishWhenDone();
  }

  /** The other node is gone: ends at once. */
  giveUp(): void {
    this.#ended(true);
  }

  /** The worker is gone: so it is for the other node. */
  abandon(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#line?.cancel();
  }

  /** Sends what has gathered. */
  flush(): void {
    const due = this.#due;
    this.#due = null;
    this.#dueBytes = 0;
    if (due !== null && this.#isSaying && !this.#isFinished) this.#line?.send(due);
  }

  get #isOverfull(): boolean {
    return this.#results.size + this.#subResults.size > 4 * this.#parts.session.most + SPARE_PENDING;
  }

  get #isSaying(): boolean {
    return this.#state === 'open' || this.#state === 'closing';
  }

  #revoke(): void {
    if (this.#lent === 0 || this.#isCalledBack || !this.#isSaying) return;
    this.#isCalledBack = true;
    this.#say((due) => (due.revoke += this.#lent));
  }

  #passOn(results: TaskResult[], parts: SubStepResult[], beats: WorkRequest['heartbeats']): void {
    if (results.length + parts.length + beats.length === 0) return;
    const bytes = results.reduce((sum, result) => sum + resultBytes(result), 0);
    const more = parts.reduce((sum, part) => sum + bytesOf(part), bytes);
    if (this.#dueBytes > 0 && this.#dueBytes + more > CUT_BYTES) this.flush();
    this.#dueBytes += more;
    for (const result of results) {
      this.#results.set(result.resultId, result);
      const { slots = 0, sinceMs = 0 } = this.#out.get(keyOf(result)) ?? {};
      this.#running -= slots;
      this.#out.set(keyOf(result), { slots: 0, sinceMs });
    }
    for (const part of parts) this.#subResults.set(part.resultId, part);
    this.#say((due) => {
      due.results.push(...results);
      due.subResults.push(...parts);
      due.heartbeats.push(...beats);
    });
  }

  #received(message: WorkResponse): void {
    if (this.#state === 'ended') return;
    const { session } = this.#parts;
    if (message.welcome !== undefined && this.#state === 'opening') this.#state = 'open';
    for (const task of message.tasks) this.#take(task);
    for (const ack of message.acks) {
      const result = this.#results.get(ack.resultId);
      if (result === undefined && !this.#subResults.delete(ack.resultId)) continue;
      if (result !== undefined) this.#out.delete(keyOf(result));
      this.#results.delete(ack.resultId);
      session.outbox.ack(ack);
    }
    for (const abort of message.aborts) session.outbox.abort(abort);
    if (message.revoked !== undefined) this.#back(message.revoked);
    if (message.inventoryRequest) {
      this.#isAskedHolds = true;
      session.askInventory();
    }
    if (message.ping > 0n) this.#say((due) => (due.pong = message.ping));
    if (message.wanted > 0) this.#wants = message.wanted;
    if (message.draining) this.close();
    this.#parts.session.host.changed(session);
    this.#finishWhenDone();
  }

  #take(task: Task): void {
    const slots = slotsOf(task);
    // More than it may: nothing of the other node is trusted any more.
    if (slots > this.#lent) return this.giveUp();
    this.#lent -= slots;
    this.#usedAtMs = this.#parts.clock.monotonicMs();
    this.#running += slots - (this.#out.get(keyOf(task))?.slots ?? 0);
    this.#out.set(keyOf(task), { slots, sinceMs: this.#usedAtMs });
    this.#parts.session.outbox.task(task);
    this.#parts.carried();
  }

  #back(credits: number): void {
    const back = Math.min(credits, this.#lent);
    this.#lent -= back;
    this.#isCalledBack = false;
    if (back > 0) this.#parts.session.takeBack(back);
  }

  #finishWhenDone(): void {
    const isDone = this.#lent === 0 && this.#out.size === 0 && this.#results.size + this.#subResults.size === 0;
    if (this.#state !== 'closing' || this.#isFinished || !isDone) return;
    this.flush();
    this.#isFinished = true;
    this.#line?.finish();
  }

  #ended(isRefused: boolean): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#line?.cancel();
    this.#parts.ended(this, isRefused);
    const { session } = this.#parts;
    if (!session.isOpen) return;
    if (this.#lent > 0) session.takeBack(this.#lent);
    const [results, subResults] = [[...this.#results.values()], [...this.#subResults.values()]];
    if (results.length + subResults.length > 0) session.takeAgain(WorkRequest.fromPartial({ results, subResults }));
  }

  #say(add: (due: WorkRequest) => void): void {
    if (!this.#isSaying) return;
    this.#due ??= WorkRequest.fromPartial({});
    add(this.#due);
    this.#parts.session.host.changed(this.#parts.session);
  }
}
