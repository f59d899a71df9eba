/** The hub of sessions, as a session sees it; S is the session. */
import type { Clock } from '../../kernel/index.js';
import type { WorkerHello, WorkRequest } from '../../gen/ductor/v1/bridge.js';
import type { StrategyAnswer } from '../../gen/ductor/v1/strategy.js';
import type { AttemptOutcome, AttemptRef, ResultAck, SubStep, Value } from '../ports.js';
import type { Registrations } from './register.js';

/** What a session needs from the hub it belongs to. */
export interface SessionHost<S> {
  readonly clock: Clock;
  /** Takes out of a message what is another node's and passes it on; returns the rest. */
  divert(session: S, message: WorkRequest): WorkRequest;
  /** Registers what the worker brings. */
  register(session: S, hello: WorkerHello): Promise<Registrations>;
  /** The session is registered: gives it its worker and its place in the queue, and the welcome in its outbox. */
  joined(session: S, hello: WorkerHello, registrations: Registrations): void;
  /** Whether the token proves the right to the attempt. */
  isGenuine(ref: AttemptRef, token: Uint8Array): boolean;
  /** Hands a result in; calls back as Coordinator.settle does. */
  settle(ref: AttemptRef, outcome: AttemptOutcome, settled: (ack: ResultAck) => void): void;
  /** Hands a part of a body's work in; calls back as Coordinator.keep does. */
  keep(ref: AttemptRef, subStep: SubStep, settled: (ack: ResultAck) => void): void;
  /** A strategy of the app answered a question. */
  answered(session: S, answer: StrategyAnswer): void;
  /** An attempt gave a sign of life. */
  heartbeat(ref: AttemptRef, progress: Value | null): void;
  /** The worker says what it holds. */
  inventory(session: S, holds: readonly AttemptRef[]): void;
  /** There is something to send, or room: at the end of this turn. */
  changed(session: S): void;
  /** Tasks that wait for the session and that nobody of its kind has room for. */
  unserved(session: S): number;
  /** These tasks were written, each with the token at its place. */
  sent(session: S, refs: readonly AttemptRef[], tokens: readonly Buffer[]): void;
  /** It is closed. */
  ended(session: S): void;
}
