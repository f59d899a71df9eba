/**
 * Sends the heartbeats of running attempts, not more often than is useful: of many reports the last one goes.
 *
 * An attempt is unknown until its first beat; then a beat goes at once when the interval has passed since the last one
 * that went, else the newest waits for the end of the interval.
 * Invariants
 *   H1 what was reported last before an attempt ended has gone, before its result does.
 *   H2 a timer is set exactly while a report waits.
 */
import type { Payload } from '../gen/ductor/v1/common.js';
import type { Task, TaskHeartbeat } from '../gen/ductor/v1/bridge.js';
import { PLAIN_CODER, type ValueCoder } from '../values/payload-codec.js';
import type { System } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import { attemptKey } from './result-outbox.js';

/** Largest progress the engine keeps, bytes. */
const MAX_PROGRESS_BYTES = 64 * 1024;
/** Between two reports of a step that asks for no heartbeats. */
const USUAL_INTERVAL_MS = 1_000;
const MIN_INTERVAL_MS = 100;
const MAX_INTERVAL_MS = 5_000;

interface Beating {
  sentAt: number;
  waiting: Payload | undefined;
  isWaiting: boolean;
  timer: { cancel(): void } | undefined;
}

function intervalOf({ heartbeatTimeoutMs }: Task): number {
  if (heartbeatTimeoutMs === 0) return USUAL_INTERVAL_MS;
  return Math.max(MIN_INTERVAL_MS, Math.min(MAX_INTERVAL_MS, heartbeatTimeoutMs / 4));
}

function payloadOf(values: ValueCoder, progress: unknown): Payload | undefined {
  if (progress === undefined) return undefined;
  const payload = values.toPayload(progress, 'progress');
  if (payload.data.length <= MAX_PROGRESS_BYTES) return payload;
  const message = `progress has ${payload.data.length} bytes; at most ${MAX_PROGRESS_BYTES} are kept`;
  throw new DuctorError('value_too_large', message);
}

/** The heartbeats of a worker. */
export class Heartbeats {
  readonly #beating = new Map<string, Beating>();

  /** @param send hands a heartbeat to the engine */
  constructor(
    readonly system: System,
    readonly send: (beat: TaskHeartbeat) => void,
    readonly values: ValueCoder = PLAIN_CODER,
  ) {}

  /** A body reports. Throws DuctorError for progress that is too large or no JSON. */
  beat(task: Task, progress: unknown): void {
    const payload = payloadOf(this.values, progress);
    const key = attemptKey(task);
    const known = this.#beating.get(key);
    const entry = known ?? { sentAt: Number.NEGATIVE_INFINITY, waiting: undefined, isWaiting: false, timer: undefined };
    if (known === undefined) this.#beating.set(key, entry);
    // A sign of life without progress does not take back what was reported before.
    entry.waiting = payload ?? entry.waiting;
    entry.isWaiting = true;
    if (entry.timer !== undefined) return;
    const leftMs = entry.sentAt + intervalOf(task) - this.system.now();
    if (leftMs <= 0) this.#flush(task, entry);
    else entry.timer = this.system.after(leftMs, () => this.#flush(task, entry));
  }

  /** The attempt has ended: what waits goes now. */
  end(task: Task): void {
    const key = attemptKey(task);
    const entry = this.#beating.get(key);
    if (entry === undefined) return;
    this.#flush(task, entry);
    this.#beating.delete(key);
  }

  #flush(task: Task, entry: Beating): void {
    entry.timer?.cancel();
    entry.timer = undefined;
    if (!entry.isWaiting) return;
    const { runId, path, attempt, token } = task;
    const progress = entry.waiting;
    entry.sentAt = this.system.now();
    entry.waiting = undefined;
    entry.isWaiting = false;
    this.send({ runId, path, attempt, token, progress });
  }
}
