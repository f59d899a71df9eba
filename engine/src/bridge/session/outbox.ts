/**
 * What one stream has yet to send. Gathered during a turn of the event loop, sent as few messages at its end.
 *
 * Invariants:
 * 1. The welcome is in the first message.
 * 2. A message holds at most CUT_BYTES of tasks, or a single larger one.
 */
import type {
  WorkerWelcome,
  WorkResponse,
  ResultAck,
  Task as WireTask,
  TaskAbort,
} from '../../gen/ductor/v1/bridge.js';
import type { StrategyQuestion } from '../../gen/ductor/v1/strategy.js';
import { CUT_BYTES } from '../limits.js';

/** Acks are about 10 bytes, with a problem 300: so many fit a message. */
const MAX_ACKS = 3_000;
const MAX_ABORTS = 1_000;
/** A task without its input and its path. */
const TASK_OVERHEAD_BYTES = 400;

const sizeOf = ({ input, path, handler, subSteps }: WireTask): number => {
  const kept = subSteps.reduce((sum, { name, output }) => sum + 3 * name.length + (output?.data.length ?? 0) + 100, 0);
  return TASK_OVERHEAD_BYTES + (input?.data.length ?? 0) + 3 * (path.length + handler.length) + kept;
};

/** Gathers. */
export class Outbox {
  welcome: WorkerWelcome | undefined;
  revoked: number | undefined;
  wanted = 0;
  ping = 0n;
  inventoryRequest = false;
  draining = false;
  #tasks: WireTask[][] = [];
  #lastBytes = 0;
  #taskBytes = 0;
  #acks: ResultAck[] = [];
  #aborts: TaskAbort[] = [];
  readonly #questions: { readonly question: StrategyQuestion; readonly bytes: number }[] = [];

  /** Bytes of the tasks. */
  get taskBytes(): number {
    return this.#taskBytes;
  }

  /** Things other than tasks. */
  get backlog(): number {
    return this.#acks.length + this.#aborts.length + this.#questions.length;
  }

  get isEmpty(): boolean {
    const { welcome, revoked, wanted, ping, inventoryRequest, draining } = this;
    const hasSigns = revoked !== undefined || wanted > 0 || ping > 0n || inventoryRequest || draining;
    return welcome === undefined && !hasSigns && this.#tasks.length === 0 && this.backlog === 0;
  }

  task(task: WireTask): void {
    const bytes = sizeOf(task);
    const last = this.#tasks.at(-1);
    if (last === undefined || this.#lastBytes + bytes > CUT_BYTES) {
      this.#tasks.push([task]);
      this.#lastBytes = bytes;
    } else {
      last.push(task);
      this.#lastBytes += bytes;
    }
    this.#taskBytes += bytes;
  }

  ack(ack: ResultAck): void {
    this.#acks.push(ack);
  }

  abort(abort: TaskAbort): void {
    this.#aborts.push(abort);
  }

  question(question: StrategyQuestion, bytes: number): void {
    this.#questions.push({ question, bytes });
  }

  /** Questions of one message: at most CUT_BYTES, or a single larger one. */
  #nextQuestions(): StrategyQuestion[] {
    const taken: StrategyQuestion[] = [];
    for (let bytes = 0; ;) {
      const next = this.#questions[0];
      bytes += next?.bytes ?? 0;
      if (next === undefined || (taken.length > 0 && bytes > CUT_BYTES)) return taken;
      this.#questions.shift();
      taken.push(next.question);
    }
  }

  /** The next message; there must be something to send. */
  next(): WorkResponse {
    const message: WorkResponse = {
      welcome: this.welcome,
      tasks: this.#tasks.shift() ?? [],
      acks: this.#acks.splice(0, MAX_ACKS),
      aborts: this.#aborts.splice(0, MAX_ABORTS),
      revoked: this.revoked,
      inventoryRequest: this.inventoryRequest,
      draining: this.draining,
      ping: this.ping,
      wanted: this.wanted,
      strategyQuestions: this.#nextQuestions(),
    };
    if (this.#tasks.length === 0) this.#taskBytes = 0;
    this.welcome = undefined;
    this.revoked = undefined;
    this.wanted = 0;
    this.ping = 0n;
    this.inventoryRequest = false;
    this.draining = false;
    return message;
  }
}
