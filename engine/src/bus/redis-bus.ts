/**
 * A bus over Redis or what speaks its protocol (PUBLISH and SUBSCRIBE), on two connections of its own: one that
 * listens, one that says. For many nodes: LISTEN and NOTIFY cost the database a lock for each batch of hints.
 *
 * States of each connection: connecting → ready → (lost) pausing → connecting … → closed (close).
 * Invariants:
 * 1. At most one PUBLISH for each channel is under way; while it is, hints gather.
 * 2. Between two of them lie at least intervalMs; the first hint after a pause goes out at once.
 * 3. Only so many hints wait while Redis is away (outgoing-hints.ts). Nothing else waits for Redis, not even a start.
 * 4. A node does not hear its own hints: what it knows it has told itself.
 */
import { Redis } from 'ioredis';
import { type Clock, DuctorError, type Timer } from '../kernel/index.js';
import type { ClosableBus } from './bus.js';
import { newListeners } from './listeners.js';
import { OutgoingHints } from './outgoing-hints.js';
import { parseHints } from './payloads.js';

/** What the bus needs. */
export interface RedisBusOptions {
  /** redis://… or, with TLS, rediss://…; may hold a name and password. */
  readonly url: string;
  /**
   * What is said is said on all of these, and what is said on one of them is heard. Clusters that share a Redis have
   * different ones; nodes of a cluster share one at least.
   */
  readonly channels: readonly string[];
  /** Names this node among those on the channels. */
  readonly origin: string;
  readonly clock: Clock;
  /** Least time between two messages, ms. Default 2. */
  readonly intervalMs?: number;
  /** How often a silent connection is asked whether it is still there, ms. Default 5,000. */
  readonly pingMs?: number;
  /** Told of lost connections and of what listeners threw. Default: nobody. */
  readonly log?: (line: string, error: unknown) => void;
}

/** Longest pause between attempts to connect, ms. */
const LAST_PAUSE_MS = 2_000;

/** See above. It connects by itself. */
export function redisBus(options: RedisBusOptions): ClosableBus {
  return new RedisBus(options);
}

/** What a message says: who, a space, and the hints. Undefined: not ours. */
function readMessage(message: string): { readonly origin: string; readonly text: string } | undefined {
  const at = message.indexOf(' ');
  return at < 0 ? undefined : { origin: message.slice(0, at), text: message.slice(at + 1) };
}

class RedisBus implements ClosableBus {
  readonly #options: Required<RedisBusOptions>;
  readonly #saying: Redis;
  readonly #hearing: Redis;
  readonly #listeners;
  readonly #waiting = new OutgoingHints();
  #isOpen = false;
  #isClosed = false;
  #isBusy = false;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  #flushTimer: Timer | undefined;
  #pingTimer: Timer | undefined;
  readonly #openers: (() => void)[] = [];

  constructor(options: RedisBusOptions) {
    this.#options = { intervalMs: 2, pingMs: 5_000, log: () => undefined, ...options };
    const { clock, log, origin, channels } = this.#options;
    this.#listeners = newListeners(clock, (error, topic) => log(`a listener of ${topic} failed`, error));
    this.#saying = this.#connection('says');
    this.#hearing = this.#connection('hears');
    this.#saying.on('ready', () => this.#schedule());
    // Subscribed anew after each connect: a connection that was lost has forgotten it.
    this.#hearing.on('ready', () => void this.#subscribe(channels));
    this.#hearing.on('close', () => (this.#isOpen = false));
    this.#hearing.on('message', (_channel, message) => {
      const read = readMessage(message);
      if (read === undefined || read.origin === origin) return;
      for (const [topic, body] of parseHints(read.text)) this.#listeners.tell(topic, body);
    });
    this.#schedulePing();
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
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#openers.push(resolve);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#flushTimer?.cancel();
    this.#pingTimer?.cancel();
    for (const connection of [this.#saying, this.#hearing]) connection.disconnect();
    return Promise.resolve();
  }

  #connection(what: string): Redis {
    const { url, pingMs, log } = this.#options;
    const connection = new Redis(url, {
      // A command that cannot go out now is of no use later: what it says is said again by the next one.
      ...{ enableOfflineQueue: false, autoResubscribe: false, maxRetriesPerRequest: 0 },
      ...{ connectTimeout: pingMs, commandTimeout: pingMs, keepAlive: pingMs },
      retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), LAST_PAUSE_MS),
    });
    let isTold = false;
    connection.on('ready', () => (isTold = false));
    connection.on('error', (error: unknown) => {
      if (isTold || this.#isClosed) return;
      isTold = true;
      log(`the connection of the bus that ${what} was lost, trying again`, error);
    });
    return connection;
  }

  async #subscribe(channels: readonly string[]): Promise<void> {
    try {
      await this.#hearing.subscribe(...channels);
      this.#isOpen = true;
      for (const resolve of this.#openers.splice(0)) resolve();
    } catch (error) {
      this.#cutOff(this.#hearing, error);
    }
  }

  /** Sends what waits as soon as the interval allows. */
  #schedule(): void {
    const isReady = this.#saying.status === 'ready';
    if (!isReady || this.#isBusy || this.#waiting.isEmpty || this.#flushTimer !== undefined) return;
    const { clock, intervalMs } = this.#options;
    const waitMs = this.#lastSentMs + intervalMs - clock.monotonicMs();
    this.#flushTimer = clock.setTimer(Math.max(0, waitMs), () => {
      this.#flushTimer = undefined;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const { clock, channels, origin } = this.#options;
    const message = `${origin} ${JSON.stringify(this.#waiting.take())}`;
    this.#lastSentMs = clock.monotonicMs();
    this.#isBusy = true;
    try {
      await Promise.all(channels.map((channel) => this.#saying.publish(channel, message)));
    } catch (error) {
      if (!this.#isClosed) this.#cutOff(this.#saying, error);
    } finally {
      this.#isBusy = false;
    }
    this.#schedule();
  }

  /** A dead socket may stay silent for ever: a connection that does not answer in time is cut off. */
  #schedulePing(): void {
    const { clock, pingMs } = this.#options;
    this.#pingTimer = clock.setTimer(pingMs, () => {
      this.#schedulePing();
      for (const connection of [this.#saying, this.#hearing]) {
        if (connection.status === 'ready') connection.ping().catch((error: unknown) => this.#cutOff(connection, error));
      }
    });
  }

  #cutOff(connection: Redis, error: unknown): void {
    if (this.#isClosed || connection.status !== 'ready') return;
    const why = new DuctorError('internal', 'Redis did not answer the bus', { cause: error });
    this.#options.log('a connection of the bus is given up, connecting anew', why);
    connection.disconnect(true);
  }
}
