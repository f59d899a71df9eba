/**
 * A bus over LISTEN and NOTIFY, on one session of its own. NOTIFY takes a lock that all notifying transactions of a
 * database share until they have committed; so it is never part of another transaction, and all hints of some
 * milliseconds go out in one.
 *
 * States: connecting → open → (lost) pausing → connecting … → closed (close).
 * Invariants:
 * 1. At most one statement is under way on the session; while it is, hints gather.
 * 2. Between two notifications lie at least intervalMs; the first hint after a pause goes out at once.
 * 3. Only so many hints wait while the database is away (outgoing-hints.ts).
 * 4. A node does not hear its own hints: what it knows it has told itself.
 */
import { DuctorError, type Clock, type Timer } from '../kernel/index.js';
import type { ClosableBus } from './bus.js';
import { newListeners } from './listeners.js';
import { OutgoingHints } from './outgoing-hints.js';
import { newUnpacker, packHints } from './payloads.js';

/** A session of its own, as the store's Database.connect opens it. */
export interface BusSession {
  /** Process id of the session at the server: names the sender of a notification. */
  readonly backendPid: number;
  readonly isLost: boolean;
  query(
    statement: string | { readonly name: string; readonly text: string },
    values?: readonly unknown[],
  ): Promise<unknown>;
  onLost(callback: (error: Error) => void): void;
  onNotification(callback: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
  destroy(): void;
}

/** What the bus needs. */
export interface PostgresBusOptions {
  /** Opens a session, not through a pooler that shares them: the bus listens on it. */
  readonly connect: () => Promise<BusSession>;
  readonly clock: Clock;
  /** Least time between two notifications, ms. Default 8. */
  readonly intervalMs?: number;
  /** How often a silent session is asked whether it is still there, ms. Default 5,000. */
  readonly pingMs?: number;
  /** Told of lost sessions and of what listeners threw. Default: nobody. */
  readonly log?: (line: string, error: unknown) => void;
}

const CHANNEL = 'ductor';
const NOTIFY = {
  name: 'bus_notify',
  text: `select pg_notify('${CHANNEL}', piece) from unnest($1::text[]) as piece`,
};
/** Pauses between attempts to connect, ms: doubled each time. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 2_000;

/** See above. It connects by itself. */
export function postgresBus(options: PostgresBusOptions): ClosableBus {
  const bus = new PostgresBus(options);
  bus.start();
  return bus;
}

class PostgresBus implements ClosableBus {
  readonly #connectTo: () => Promise<BusSession>;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #pingMs: number;
  readonly #log: (line: string, error: unknown) => void;
  readonly #listeners;
  readonly #waiting = new OutgoingHints();
  readonly #openers: (() => void)[] = [];
  #session: BusSession | undefined;
  #isClosed = false;
  #isBusy = false;
  #batch = 0;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  #flushTimer: Timer | undefined;
  #pingTimer: Timer | undefined;
  #pauseTimer: Timer | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(options: PostgresBusOptions) {
    this.#connectTo = options.connect;
    this.#clock = options.clock;
    this.#intervalMs = options.intervalMs ?? 8;
    this.#pingMs = options.pingMs ?? 5_000;
    this.#log = options.log ?? ((): void => undefined);
    this.#listeners = newListeners(this.#clock, (error, topic) => this.#log(`a listener of ${topic} failed`, error));
  }

  publish(topic: string, body: string): void {
    if (this.#isClosed) return;
    this.#waiting.add(topic, body);
    this.#schedule();
  }

  subscribe(topic: string, listener: (body: string) => void): () => void {
    return this.#listeners.add(topic, listener);
  }

  opened(): Promise<void> {
    if (this.#session !== undefined && !this.#session.isLost) return Promise.resolve();
    return new Promise((resolve) => {
      this.#openers.push(resolve);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of [this.#flushTimer, this.#pingTimer, this.#pauseTimer]) timer?.cancel();
    const session = this.#session;
    this.#session = undefined;
    await session?.close().catch(() => undefined);
  }

  start(): void {
    this.#connect().catch((error: unknown) => {
      if (this.#isClosed) return;
      this.#log('the bus cannot reach the database, trying again', error);
      this.#pauseTimer = this.#clock.setTimer(this.#pauseMs, () => this.start());
      this.#pauseMs = Math.min(this.#pauseMs * 2, LAST_PAUSE_MS);
    });
  }

  async #connect(): Promise<void> {
    const session = await this.#connectTo();
    const unpacker = newUnpacker();
    session.onNotification((channel, payload) => {
      const batch = channel === CHANNEL ? unpacker.take(payload) : undefined;
      if (batch === undefined || batch.origin === session.backendPid) return;
      for (const [topic, body] of batch.hints) this.#listeners.tell(topic, body);
    });
    try {
      await session.query(`listen ${CHANNEL}`);
      if (this.#isClosed) throw new DuctorError('database_unavailable', 'the bus is closed');
    } catch (error) {
      session.destroy();
      throw error;
    }
    this.#session = session;
    this.#pauseMs = FIRST_PAUSE_MS;
    session.onLost((error) => this.#lost(session, error));
    for (const resolve of this.#openers.splice(0)) resolve();
    this.#schedulePing();
    this.#schedule();
  }

  #lost(session: BusSession, error: unknown): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#pingTimer?.cancel();
    if (this.#isClosed) return;
    this.#log('the session of the bus was lost', error);
    this.start();
  }

  /** Sends what waits as soon as the interval allows. */
  #schedule(): void {
    if (this.#session === undefined || this.#isBusy || this.#waiting.isEmpty || this.#flushTimer !== undefined) return;
    const waitMs = this.#lastSentMs + this.#intervalMs - this.#clock.monotonicMs();
    this.#flushTimer = this.#clock.setTimer(Math.max(0, waitMs), () => {
      this.#flushTimer = undefined;
      const hints = this.#waiting.take();
      void this.#ask((session) => {
        this.#lastSentMs = this.#clock.monotonicMs();
        this.#batch += 1;
        return session.query(NOTIFY, [packHints(session.backendPid, this.#batch, hints)]);
      });
    });
  }

  #schedulePing(): void {
    this.#pingTimer = this.#clock.setTimer(this.#pingMs, () => {
      this.#schedulePing();
      if (!this.#isBusy) void this.#ask((session) => session.query('select 1'));
    });
  }

  /** One statement; a session that does not answer in time is cut off, for a dead socket may stay silent for ever. */
  async #ask(send: (session: BusSession) => Promise<unknown>): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    this.#isBusy = true;
    const limit = this.#clock.setTimer(this.#pingMs, () => {
      session.destroy();
      this.#lost(session, new DuctorError('database_unavailable', 'the database did not answer in time'));
    });
    try {
      await send(session);
    } catch (error) {
      this.#log('a statement of the bus failed', error);
    } finally {
      limit.cancel();
      this.#isBusy = false;
    }
    this.#schedule();
  }
}
