/**
 * An endpoint as a worker of this node: a session of the bridge like any other, whose other end is here. Tasks that the
 * session gives become calls, answers of calls become results; tokens, first result wins, retries and cancellation are
 * those of the stream.
 *
 *   joining --welcome--> working --close()--> closed
 *   working --the session ended--> joining, a moment later
 *
 * Invariants:
 * 1. Calls under way and credits granted together never exceed the share of this node; while the circuit is open no
 *    credit is granted, while it is half open one.
 * 2. Every task ends in one result: the app's, if it is one of this attempt, else a failure that costs a retry.
 * 3. A result is kept until it is acknowledged.
 * 4. An app that answers with sub-steps is called again for the same attempt once they are recorded.
 */
import { DuctorError, type Clock, type Timer } from '../../kernel/index.js';
import {
  WorkerHello,
  WorkRequest,
  type SubStepResult,
  type Task,
  type TaskHold,
  type TaskResult,
  type WorkResponse,
} from '../../gen/ductor/v1/bridge.js';
import type { StrategyQuestion } from '../../gen/ductor/v1/strategy.js';
import type { Principal } from '../../tenancy/index.js';
import type { Bridge, OpenedStream } from '../bridge.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { WorkStream } from '../session/work-stream.js';
import { Breaker, type Circuit } from './breaker.js';
import type { CallAnswer, CallbackCall, CallbackCaller } from './caller.js';
import { answerProblem, failureOf, type Outcome } from './outcomes.js';
import { answerByCall } from './question-call.js';
import { signedCall } from './signed-call.js';
import type { CallbackSigner } from './signer.js';
import { SubStepDesk } from './sub-step-desk.js';

/** What the workers of all endpoints share. */
export interface EndpointWorkerDeps {
  readonly bridge: Pick<Bridge, 'open'>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly signer: CallbackSigner;
  readonly callerOf: (endpoint: Endpoint) => CallbackCaller;
  /** Live nodes: each has its share of the concurrency. */
  readonly nodes: () => number;
  readonly log: (line: string, error: unknown) => void;
}

/** How an endpoint is, as this node sees it. */
export interface EndpointStatus {
  readonly circuit: Circuit;
  readonly inFlight: number;
  readonly failures: number;
  /** Empty: none. */
  readonly lastError: string;
  /** From now; null: the circuit is closed. */
  readonly retryInMs: number | null;
}

interface Call {
  readonly task: Task;
  readonly stop: AbortController;
  readonly isProbe: boolean;
  /** Why the engine told it to stop; null: it did not. */
  told: string | null;
  /** Its time was over. */
  isLate: boolean;
  /** Longest time of the call that is under way. */
  limitMs: number;
}

const REJOIN_MS = 1_000;
const MIN_BEAT_MS = 100;
const keyOf = ({ runId, path, attempt }: Pick<Task, 'runId' | 'path' | 'attempt'>): string =>
  `${runId}/${attempt}/${path}`;

/** The worker of one endpoint. */
export class EndpointWorker implements WorkStream {
  readonly #deps: EndpointWorkerDeps;
  readonly #workerId: string;
  readonly #breaker = new Breaker();
  readonly #caller: CallbackCaller;
  readonly #calls = new Map<string, Call>();
  /** Results sent and not acknowledged. */
  readonly #unacknowledged = new Map<bigint, TaskResult>();
  readonly #desk = new SubStepDesk();
  #events: OpenedStream | null = null;
  #isWorking = false;
  #isClosed = false;
  #isDraining = false;
  #isRevoking = false;
  #credits = 0;
  #lastResultId = 0n;
  #lastError = '';
  #timer: Timer | null = null;
  #waiting: (() => void)[] = [];
  /** What goes in the next message; null: none is due. */
  #due: WorkRequest | null = null;

  constructor(
    deps: EndpointWorkerDeps,
    readonly endpoint: Endpoint,
  ) {
    this.#deps = deps;
    this.#workerId = deps.newId();
    this.#caller = deps.callerOf(endpoint);
  }

  /** Joins the bridge. */
  start(): void {
    if (this.#isClosed) return;
    const { tenantId, endpointId, name, queues, concurrency, workflows, strategies } = this.endpoint;
    const scopes: Principal['scopes'] = new Set(['bridge:work'] as const);
    const principal = { tenantId, principalId: endpointId, name: `endpoint ${name}`, scopes };
    try {
      this.#events = this.#deps.bridge.open(principal, this, { outcomes: [], workflows });
    } catch (error) {
      this.#deps.log(`endpoint ${name} cannot join`, error);
      this.#rejoin();
      return;
    }
    const hello = { workerId: this.#workerId, name: `endpoint ${name}`, slots: concurrency, queues: [...queues] };
    const brought = { inventory: { holds: this.#holds() }, strategies: [...strategies] };
    this.#say((due) => (due.hello = WorkerHello.fromPartial({ ...hello, ...brought })));
  }

  /** What is known of it. */
  status(): EndpointStatus {
    const now = this.#deps.clock.monotonicMs();
    const { retryAtMs, failures } = this.#breaker;
    return {
      ...{ circuit: this.#breaker.circuit(now), failures, inFlight: this.#calls.size, lastError: this.#lastError },
      retryInMs: retryAtMs === null ? null : Math.max(0, retryAtMs - now),
    };
  }

  /** Takes no more tasks; resolves when no call is under way. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#say((due) => (due.draining = true));
    if (this.#calls.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Leaves once what it has sent is acknowledged. */
  leave(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#send();
    this.#events?.finished();
  }

  /** Gives up what is under way and leaves. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const { stop } of this.#calls.values()) stop.abort();
    this.#events?.gone();
    this.#events = null;
  }

  write(message: WorkResponse): boolean {
    if (message.welcome !== undefined) this.#welcomed();
    for (const ack of message.acks) {
      this.#unacknowledged.delete(ack.resultId);
      this.#desk.acknowledge(ack);
    }
    for (const { reason, ...attempt } of message.aborts) this.#tell(keyOf(attempt), reason);
    for (const task of message.tasks) this.#take(task);
    for (const question of message.strategyQuestions) void this.#answer(question);
    if (message.revoked !== undefined) {
      this.#credits -= message.revoked;
      this.#isRevoking = false;
    }
    if (message.inventoryRequest) this.#say((due) => (due.inventory = { holds: this.#holds() }));
    if (message.ping > 0n) this.#say((due) => (due.pong = message.ping));
    this.#settleCredits();
    return true;
  }

  pause(): void {
    // What it says fits a turn: results wait here until they are acknowledged.
  }

  resume(): void {
    // See pause.
  }

  end(error: DuctorError | null): void {
    this.#events = null;
    this.#isWorking = false;
    this.#credits = 0;
    this.#isRevoking = false;
    this.#due = null;
    if (this.#isClosed) return;
    if (error !== null) this.#deps.log(`the session of endpoint ${this.endpoint.name} ended`, error);
    this.#rejoin();
  }

  #rejoin(): void {
    this.#timer?.cancel();
    this.#timer = this.#deps.clock.setTimer(REJOIN_MS, () => this.start());
  }

  #welcomed(): void {
    this.#isWorking = true;
    const parts = this.#desk.unacknowledged();
    if (this.#unacknowledged.size + parts.length === 0) return;
    this.#say((due) => {
      due.subResults.push(...parts);
      due.results.push(...this.#unacknowledged.values());
    });
  }

  #holds(): TaskHold[] {
    const held = [...[...this.#calls.values()].map(({ task }) => task), ...this.#unacknowledged.values()];
    return held.map(({ runId, path, attempt, token }) => ({ runId, path, attempt, token }));
  }

  /** Grants what may be granted, or asks for what may not be used any more. */
  #settleCredits(): void {
    if (!this.#isWorking || this.#isRevoking) return;
    const surplus = this.#free() - this.#credits;
    if (surplus > 0) {
      this.#credits += surplus;
      this.#say((due) => (due.credits += surplus));
    } else if (surplus < 0) {
      this.#isRevoking = true;
      this.#say((due) => (due.revoke -= surplus));
    }
  }

  async #answer(question: StrategyQuestion): Promise<void> {
    const answer = await answerByCall({ ...this.#deps, caller: this.#caller }, this.endpoint, this.#breaker, question);
    this.#lastError = answer.failure ?? this.#lastError;
    if (answer.failure !== undefined) this.#lookAgain();
    const { outcome } = answer;
    if (outcome === null) return;
    this.#say((due) => due.strategyAnswers.push({ questionId: question.questionId, outcome }));
  }

  /** Tasks it could take beyond those under way. */
  #free(): number {
    if (this.#isDraining || this.#isClosed) return 0;
    const circuit = this.#breaker.circuit(this.#deps.clock.monotonicMs());
    const share = Math.max(1, Math.floor(this.endpoint.concurrency / Math.max(1, this.#deps.nodes())));
    const free = Math.max(0, share - this.#calls.size);
    if (circuit === 'closed') return free;
    const hasProbe = [...this.#calls.values()].some(({ isProbe }) => isProbe);
    return circuit === 'open' || hasProbe ? 0 : Math.min(1, free);
  }

  #take(task: Task): void {
    this.#credits -= 1;
    const key = keyOf(task);
    if (this.#calls.has(key)) return;
    const isProbe = this.#breaker.circuit(this.#deps.clock.monotonicMs()) === 'half_open';
    const call: Call = { task, stop: new AbortController(), isProbe, told: null, isLate: false, limitMs: 0 };
    this.#calls.set(key, call);
    void this.#run(call).then((outcome) => this.#finished(key, call, outcome));
  }

  #tell(key: string, reason: string): void {
    const call = this.#calls.get(key);
    if (call === undefined) return;
    call.told = reason;
    call.stop.abort();
  }

  async #run(call: Call): Promise<Outcome> {
    const { clock } = this.#deps;
    const beating = this.#beatFor(call.task);
    try {
      return await this.#untilResult(call);
    } catch (caught) {
      const late = new DuctorError('deadline_exceeded', `the app did not answer within ${call.limitMs} ms`);
      const error = call.isLate ? late : DuctorError.from(caught);
      if (call.told !== null || this.#isClosed) return failureOf(error, call.told);
      this.#breaker.failed(clock.monotonicMs(), call.isProbe);
      this.#lastError = `${error.code}: ${error.message}`;
      this.#lookAgain();
      return failureOf(error, null);
    } finally {
      beating?.cancel();
    }
  }

  /** Calls, and calls on as long as the app has done parts of the work. */
  async #untilResult(call: Call): Promise<Outcome> {
    const { clock } = this.#deps;
    const endsAtMs = clock.monotonicMs() + call.task.timeoutMs;
    for (let { task } = call; ;) {
      const leftMs = Math.floor(endsAtMs - clock.monotonicMs());
      call.limitMs = Math.max(1, Math.min(leftMs, this.endpoint.timeoutMs));
      const answer = await this.#callOnce(call, task);
      const problem = answerProblem(task, answer);
      if (problem !== null) throw new DuctorError('callback_invalid', problem);
      this.#breaker.succeeded();
      if (answer.$case === 'result') return answer.value.outcome;
      const parts = answer.$case === 'subResults' ? answer.value.results : [];
      const numbered = parts.map((part) => ({ ...part, resultId: (this.#lastResultId += 1n) }));
      const send = (sent: readonly SubStepResult[]): void => this.#say((due) => due.subResults.push(...sent));
      task = await this.#desk.record(task, numbered, this.#isWorking ? send : () => undefined, call.stop.signal);
    }
  }

  async #callOnce(call: Call, task: Task): Promise<CallAnswer> {
    const limit = this.#deps.clock.setTimer(call.limitMs, () => {
      call.isLate = true;
      call.stop.abort();
    });
    try {
      return await this.#caller.call(this.#message(call, task));
    } finally {
      limit.cancel();
    }
  }

  #message({ stop, limitMs }: Call, task: Task): CallbackCall {
    const carried = { task: { ...task, timeoutMs: limitMs }, strategyQuestion: undefined };
    return {
      ...signedCall(this.#deps, this.endpoint, carried),
      ...{ timeoutMs: limitMs, signal: stop.signal },
      beat: ({ progress }) => this.#beat(task, progress),
    };
  }

  /** Of a form without signs of life the open call is one, where the step asks for any. */
  #beatFor(task: Task): Timer | null {
    if (this.#caller.hasHeartbeats || task.heartbeatTimeoutMs === 0) return null;
    const { clock } = this.#deps;
    const everyMs = Math.max(MIN_BEAT_MS, Math.floor(task.heartbeatTimeoutMs / 3));
    let timer: Timer;
    const beat = (): Timer => {
      this.#beat(task, undefined);
      return clock.setTimer(everyMs, () => (timer = beat()));
    };
    timer = beat();
    return { cancel: () => timer.cancel() };
  }

  #beat({ runId, path, attempt, token }: Task, progress: Task['lastProgress']): void {
    this.#say((due) => due.heartbeats.push({ runId, path, attempt, token, progress }));
  }

  #finished(key: string, { task }: Call, outcome: Outcome): void {
    this.#calls.delete(key);
    const { runId, path, attempt, token } = task;
    this.#lastResultId += 1n;
    const result = { resultId: this.#lastResultId, runId, path, attempt, token, outcome };
    this.#unacknowledged.set(result.resultId, result);
    if (this.#isWorking) this.#say((due) => due.results.push(result));
    this.#settleCredits();
    if (this.#calls.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** An open circuit becomes half open by itself. */
  #lookAgain(): void {
    const { retryAtMs } = this.#breaker;
    if (retryAtMs === null || !this.#isWorking) return;
    this.#timer?.cancel();
    const leftMs = Math.max(0, retryAtMs - this.#deps.clock.monotonicMs());
    this.#timer = this.#deps.clock.setTimer(leftMs, () => this.#settleCredits());
  }

  /** Adds to the message that goes at the end of what is happening now. */
  #say(add: (due: WorkRequest) => void): void {
    if (this.#events === null) return;
    if (this.#due === null) {
      this.#due = WorkRequest.fromPartial({});
      this.#deps.clock.defer(() => this.#send());
    }
    add(this.#due);
  }

  #send(): void {
    const due = this.#due;
    this.#due = null;
    if (due !== null) this.#events?.received(due);
  }
}
