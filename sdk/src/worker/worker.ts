/**
 * A worker: runs the step bodies of an app for the engine. It holds one stream to every engine node, takes tasks as its
 * slots allow, and keeps each result until the engine says that it is committed.
 *
 * States: RUNNING -> DRAINING (no new tasks, bodies finish, results are delivered) -> STOPPED.
 * Invariants
 *   W1 a result is forgotten only when a node acknowledged it.
 *   W2 a task that arrives while the same attempt runs here, or its result waits here, starts no second body.
 *   W3 at most UNACKNOWLEDGED_PER_SLOT x slots results wait for acknowledgement before new credits are held back.
 */
import type { Task, TaskAbort, TaskHeartbeat, TaskHold } from '../gen/ductor/v1/bridge.js';
import type { WorkerHello, WorkerWelcome } from '../gen/ductor/v1/bridge.js';
import { AckState, WorkRequest, type WorkResponse } from '../gen/ductor/v1/bridge.js';
import { type Connection, type ConnectionOptions, resolveConnection } from '../connection/connection.js';
import { tracerOf } from '../connection/open-telemetry.js';
import { type System, type SystemTimer, machine } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import { SDK_VERSION } from '../version.js';
import type { StrategyQuestion } from '../gen/ductor/v1/strategy.js';
import type { AppStrategy } from '../strategy/define-strategy.js';
import { StrategyRunner } from '../strategy/strategy-runner.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import type { Outcome } from './attempt-outcome.js';
import { bodiesOf } from './bodies.js';
import { checkDefinition } from './check-definition.js';
import { CreditLedger } from './credits.js';
import { deferred } from './deferred.js';
import { definitionMessage } from './definition-message.js';
import { Heartbeats } from './heartbeats.js';
import { LifeThread } from './life-thread.js';
import { type LogSink, consoleSink } from './log.js';
import { NodeStream } from './node-stream.js';
import { ResultOutbox, attemptKey, counter } from './result-outbox.js';
import { SubStepSender } from './sub-step-sender.js';
import { TaskRunner } from './task-runner.js';
import { checkedCapacity, isFatal, slotsOf } from './worker-checks.js';

const UNACKNOWLEDGED_PER_SLOT = 4;
/** An acknowledgement takes milliseconds; one that is so late is not waited for when another node can be asked. */
const LATE_MS = 2_000;
const LOOK_FOR_LATE_MS = 500;

/** What createWorker takes beside the connection. */
export interface WorkerOptions extends ConnectionOptions {
  /** Workflows whose steps this worker runs; definitions that are new are published. Default: none. */
  readonly workflows?: readonly AnyWorkflow[];
  /** Routing strategies that it answers for, besides its capacity. Default: none. */
  readonly strategies?: readonly AppStrategy[];
  /** Step bodies that run at once, 1 to 10,000. Default 100. */
  readonly capacity?: number;
  /** Queues it serves. Default ["default"]. */
  readonly queues?: readonly string[];
  /** Name for people. Default: host and process id. */
  readonly name?: string;
  /** Take only tasks of exactly the versions declared here. Default false. */
  readonly pin?: boolean;
  /** How long `stop` waits for running bodies before it aborts their signals, ms. Default 10,000. */
  readonly drainTimeoutMs?: number;
  /** Stop on SIGTERM and SIGINT. Default true. */
  readonly handleSignals?: boolean;
  /**
   * Also open streams to the nodes that the engine names. False: only to the addresses of `engine`, where others cannot
   * be reached; nodes then lend this worker to each other. Default: true.
   */
  readonly allNodes?: boolean;
  /** Where lines go. Default: JSON on standard error from info on. */
  readonly log?: LogSink;
  /** For tests. */
  readonly system?: System;
}

/** A running worker. */
export interface Worker {
  /**
   * Resolves when the first node has welcomed this worker and its definitions are published. Rejects when one was
   * refused.
   */
  readonly ready: Promise<void>;
  /** Resolves when the worker has stopped. */
  readonly stopped: Promise<void>;
  /** Takes no more tasks, lets running bodies finish, delivers their results, closes. */
  stop(): Promise<void>;
}

/** Starts a worker. Throws DuctorError invalid_argument for options and definitions that cannot work. */
export function createWorker(options: WorkerOptions): Worker {
  for (const { definition } of options.workflows ?? []) checkDefinition(definition);
  const worker = new WorkerProcess(options);
  worker.start();
  return worker;
}

class WorkerProcess implements Worker {
  readonly #options: WorkerOptions;
  readonly #connection: Connection;
  readonly #system: System;
  readonly #log: LogSink;
  readonly #id: string;
  readonly #slots: number;
  readonly #streams = new Map<string, NodeStream>();
  readonly #credits: CreditLedger<NodeStream>;
  readonly #nextId = counter();
  readonly #outbox = new ResultOutbox<NodeStream>(this.#nextId, attemptKey);
  readonly #parts = new SubStepSender<NodeStream>(this.#nextId, (attempt) =>
    this.#runner.abort(attemptKey(attempt), 'superseded'),
  );
  readonly #runner: TaskRunner;
  readonly #heartbeats: Heartbeats;
  readonly #strategies: StrategyRunner;
  /** Absent on a machine of tests. */
  readonly #life: LifeThread | undefined;
  readonly #ready = deferred();
  readonly #stopped = deferred();
  #keepAlive: SystemTimer | undefined;
  #lateCheck: SystemTimer | undefined;
  #state: 'RUNNING' | 'DRAINING' | 'STOPPED' = 'RUNNING';
  #flushing = false;
  readonly #onSignal = (): void => void this.stop();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#connection = resolveConnection(options);
    this.#system = options.system ?? machine;
    this.#log = options.log ?? consoleSink;
    this.#id = this.#system.uuid();
    this.#slots = checkedCapacity(options.capacity ?? 100);
    this.#credits = new CreditLedger(this.#slots);
    this.#strategies = new StrategyRunner(options.strategies ?? [], this.#system, this.#log);
    const bodies = bodiesOf(options.workflows ?? []);
    this.#heartbeats = new Heartbeats(this.#system, (beat) => this.#sendHeartbeat(beat), this.#connection.values);
    const life = { workerId: this.#id, log: this.#log, addresses: () => [...this.#streams.keys()] };
    this.#life = options.system === undefined ? new LifeThread(this.#connection, life) : undefined;
    this.#runner = new TaskRunner({
      system: this.#system,
      log: this.#log,
      bodyOf: (workflow, handler) => bodies.get(workflow)?.get(handler),
      heartbeat: (task, progress) => this.#heartbeats.beat(task, progress),
      record: (task, name, output) => {
        this.#flushLater();
        return this.#parts.record(task, name, output);
      },
      tracer: tracerOf(options.openTelemetry, SDK_VERSION),
      values: this.#connection.values,
    });
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  start(): void {
    this.#keepAlive = this.#system.keepAlive();
    if (this.#options.handleSignals !== false) {
      process.once('SIGTERM', this.#onSignal);
      process.once('SIGINT', this.#onSignal);
    }
    this.#lookForLate();
    if (this.#life === undefined) this.#openAll();
    else void this.#life.start().then(() => this.#openAll());
  }

  async stop(): Promise<void> {
    if (this.#state !== 'RUNNING') return this.stopped;
    this.#state = 'DRAINING';
    for (const stream of this.#streams.values()) stream.send(WorkRequest.fromPartial({ draining: true }));
    const timeout = this.#system.after(this.#options.drainTimeoutMs ?? 10_000, () =>
      this.#runner.abortAll('worker_stopping'),
    );
    this.#finishWhenDrained();
    await this.stopped;
    timeout.cancel();
  }

  #openAll(): void {
    if (this.#state === 'RUNNING') for (const address of this.#connection.addresses) this.#open(address);
  }

  #open(address: string): void {
    if (this.#streams.has(address)) return;
    const deps = { connection: this.#connection, system: this.#system, hello: () => this.#hello() };
    const stream = new NodeStream(address, deps, {
      message: (from, message) => this.#receive(from, message),
      broken: (from, error) => this.#broken(from, error),
    });
    this.#streams.set(address, stream);
  }

  #hello(): WorkerHello {
    const { queues, name, workflows = [], pin } = this.#options;
    return {
      workerId: this.#id,
      name: name ?? `${process.env['HOSTNAME'] ?? 'worker'}:${process.pid}`,
      sdkVersion: SDK_VERSION,
      slots: this.#slots,
      queues: [...(queues ?? [])],
      workflows: workflows.map((workflow) => ({
        definition: definitionMessage(workflow.definition),
        handlers: [...workflow.handlers.keys()],
        pin: pin ?? false,
      })),
      inventory: { holds: this.#holds() },
      strategies: this.#strategies.registrations(),
    };
  }

  #holds(): TaskHold[] {
    return [...this.#runner.running(), ...this.#outbox.all()].map(({ runId, path, attempt, token }) => ({
      runId,
      path,
      attempt,
      token,
    }));
  }

  #receive(stream: NodeStream, message: WorkResponse): void {
    if (message.welcome !== undefined) this.#welcomed(stream, message.welcome);
    for (const ack of message.acks) {
      if (this.#parts.acknowledge(ack)) continue;
      const result = this.#outbox.acknowledge(ack.resultId);
      if (result === undefined || ack.state === AckState.ACK_STATE_RECORDED) continue;
      const refused = ack.state === AckState.ACK_STATE_REFUSED;
      this.#log(refused ? 'warn' : 'debug', refused ? 'result refused' : 'result came too late', {
        run_id: result.runId,
        step: result.path,
        attempt: result.attempt,
        problem: ack.problem,
      });
    }
    for (const task of message.tasks) this.#take(stream, task);
    for (const question of message.strategyQuestions) void this.#choose(stream, question);
    for (const order of message.aborts) this.#abort(order);
    if (message.revoked !== undefined) this.#credits.revoked(stream, message.revoked);
    if (message.inventoryRequest) stream.send(WorkRequest.fromPartial({ inventory: { holds: this.#holds() } }));
    if (message.ping !== 0n) stream.send(WorkRequest.fromPartial({ pong: message.ping }));
    this.#flushLater();
    this.#finishWhenDrained();
  }

  #welcomed(stream: NodeStream, welcome: WorkerWelcome): void {
    const twin = [...this.#streams.values()].find(
      (other) => other !== stream && other.ready && other.nodeId === welcome.nodeId,
    );
    if (twin !== undefined) return this.#drop(stream);
    this.#credits.open(stream);
    if (this.#options.allNodes !== false) for (const address of welcome.nodes) this.#open(address);
    this.#life?.nodesChanged();
    const refused = welcome.registrations.filter((registration) => registration.problems.length > 0);
    for (const { familySlug, problems } of refused)
      this.#log('error', `definition of ${familySlug} was refused`, { problems });
    const [first] = refused;
    if (first === undefined) return this.#ready.resolve();
    this.#ready.reject(
      new DuctorError(first.code || 'invalid_definition', `the engine refused the definition of ${first.familySlug}`, {
        details: first.problems,
        remedy: first.problems[0]?.remedy ?? '',
      }),
    );
  }

  #take(stream: NodeStream, task: Task): void {
    const key = attemptKey(task);
    const slots = slotsOf(task);
    this.#credits.begin(stream, slots);
    if (this.#outbox.has(key)) {
      this.#outbox.renew(key, task.token, stream);
      this.#credits.end(slots);
    } else if (this.#runner.has(key)) {
      this.#parts.again(task, stream);
      this.#credits.end(slots);
    } else {
      this.#parts.begin(task, stream);
      this.#life?.begin(task);
      this.#runner.start(task, (done, outcome) => this.#settled(stream, done, outcome));
    }
  }

  async #choose(stream: NodeStream, question: StrategyQuestion): Promise<void> {
    const answer = await this.#strategies.answer(question);
    stream.send(WorkRequest.fromPartial({ strategyAnswers: [answer] }));
  }

  #abort(order: TaskAbort): void {
    const known = order.reason === 'cancelled' || order.reason === 'timed_out' ? order.reason : 'superseded';
    this.#runner.abort(attemptKey(order), known);
  }

  #settled(origin: NodeStream, task: Task, outcome: Outcome): void {
    const { runId, path, attempt, token } = task;
    this.#heartbeats.end(task);
    this.#life?.end(task);
    this.#parts.end(task);
    this.#credits.end(slotsOf(task));
    this.#outbox.add({ runId, path, attempt, token, outcome }, origin);
    this.#flushLater();
  }

  /** To every node: which one owns the run, and keeps the progress, may change at any time. */
  #sendHeartbeat(beat: TaskHeartbeat): void {
    const message = WorkRequest.fromPartial({ heartbeats: [beat] });
    for (const stream of this.#streams.values()) if (stream.ready) stream.send(message);
  }

  #broken(stream: NodeStream, error: Error | undefined): void {
    this.#log('debug', 'stream to engine lost', { address: stream.address, error: error?.message });
    this.#credits.close(stream);
    this.#outbox.lost(stream);
    this.#parts.outbox.lost(stream);
    const fatal = error !== undefined && isFatal(error);
    if (fatal) this.#ready.reject(error);
    const listed = this.#connection.addresses.includes(stream.address);
    if (!listed && this.#anyReady() !== undefined) this.#drop(stream);
    this.#flushLater();
  }

  #drop(stream: NodeStream): void {
    this.#credits.close(stream);
    this.#outbox.lost(stream);
    this.#parts.outbox.lost(stream);
    stream.close();
    this.#streams.delete(stream.address);
    this.#life?.nodesChanged();
  }

  #anyReady(): NodeStream | undefined {
    return [...this.#streams.values()].find((stream) => stream.ready);
  }

  /** Every now and then: results whose acknowledgement is late go out once more, by another node. */
  #lookForLate(): void {
    this.#lateCheck = this.#system.after(LOOK_FOR_LATE_MS, () => {
      const ready = [...this.#streams.values()].filter((stream) => stream.ready);
      const now = this.#system.now();
      if (ready.length > 1) for (const outbox of [this.#outbox, this.#parts.outbox]) outbox.hurry(now, LATE_MS);
      this.#flush();
      if (this.#state !== 'STOPPED') this.#lookForLate();
    });
  }

  #carrier(origin: NodeStream, late: NodeStream | undefined): NodeStream | undefined {
    if (late === undefined) return origin.ready ? origin : this.#anyReady();
    return [...this.#streams.values()].find((stream) => stream.ready && stream !== late);
  }

  #flushLater(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    this.#system.nextTurn(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  /** Sends what gathered in this turn: results to the nodes they belong to, credits where they are needed. */
  #flush(): void {
    const messages = new Map<NodeStream, WorkRequest>();
    const to = (stream: NodeStream): WorkRequest => {
      const known = messages.get(stream) ?? WorkRequest.fromPartial({});
      messages.set(stream, known);
      return known;
    };
    const carrier = (origin: NodeStream, late: NodeStream | undefined): NodeStream | undefined =>
      this.#carrier(origin, late);
    const now = this.#system.now();
    for (const [stream, sent] of this.#parts.outbox.take(carrier, now)) to(stream).subResults = sent;
    for (const [stream, sent] of this.#outbox.take(carrier, now)) to(stream).results = sent;
    if (this.#state === 'RUNNING' && this.#outbox.size < UNACKNOWLEDGED_PER_SLOT * this.#slots) {
      for (const move of this.#credits.settle()) {
        to(move.stream).credits += move.grant;
        to(move.stream).revoke += move.revoke;
      }
    }
    for (const [stream, message] of messages) stream.send(message);
    this.#finishWhenDrained();
  }

  #finishWhenDrained(): void {
    if (this.#state === 'DRAINING' && this.#credits.running === 0 && this.#outbox.size === 0) this.#finish();
  }

  #finish(): void {
    if (this.#state === 'STOPPED') return;
    this.#state = 'STOPPED';
    for (const stream of this.#streams.values()) stream.close();
    process.removeListener('SIGTERM', this.#onSignal);
    process.removeListener('SIGINT', this.#onSignal);
    this.#keepAlive?.cancel();
    this.#lateCheck?.cancel();
    this.#life?.stop();
    this.#stopped.resolve();
  }
}
