/**
 * The embedded PostgreSQL as the engine holds it.
 *
 * States: up → down (the server ended without our doing) → up again; up or down → stopped (by stop()).
 *
 * Invariants:
 * 1. The server outlives a killed engine; the next start adopts it.
 * 2. Who leaves last turns it off (stop.ts).
 * 3. A server that ends while an engine holds it is brought up again, on the same url.
 */
import { backgroundTimer, sleep, type Timer } from '../../kernel/index.js';
import { bringUp, type Server } from './bring-up.js';
import { layOut, urlOf, type EmbeddedOptions, type Place } from './place.js';
import { isProcessAlive } from './postmaster-pid.js';
import { stopServer } from './stop.js';

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** Connection string for openDatabase; holds the password when the transport is TCP. */
  readonly url: string;
  /** Process id of the server; another one after a restart. */
  readonly pid: number;
  /** Whether it ran already. */
  readonly adopted: boolean;
  /** Turns the server off unless another engine is connected to it; resolves with whether it is off. */
  stop(): Promise<boolean>;
}

/** How often the process is looked for, ms; an adopted server is no child that tells its end. */
const WATCH_MS = 250;
/** Pause after a failed restart, ms. */
const RETRY_MS = 1_000;

/** Holds the server; made by startEmbeddedPostgres. */
class HeldServer implements EmbeddedPostgres {
  readonly url: string;
  readonly adopted: boolean;
  readonly #place: Place;
  readonly #options: EmbeddedOptions;
  readonly #watch: Timer;
  #server: Server;
  #restart: Promise<void> | undefined;
  #stopped: Promise<boolean> | undefined;

  constructor(place: Place, options: EmbeddedOptions, server: Server) {
    this.#place = place;
    this.#options = options;
    this.#server = server;
    this.url = urlOf(server.target);
    this.adopted = server.adopted;
    this.#tell();
    this.#watch = backgroundTimer(WATCH_MS, () => this.#look());
  }

  get pid(): number {
    return this.#server.pid;
  }

  stop(): Promise<boolean> {
    this.#stopped ??= this.#stopNow();
    return this.#stopped;
  }

  /** Stops after a restart that is under way. */
  async #stopNow(): Promise<boolean> {
    this.#watch.cancel();
    await this.#restart;
    return stopServer({ ...this.#place, target: this.#server.target, pid: this.#server.pid });
  }

  #tell(): void {
    const { adopted, pid } = this.#server;
    this.#place.log(adopted ? `adopted the running PostgreSQL, process ${pid}` : `started PostgreSQL, process ${pid}`);
  }

  /** Begins a restart when the process is gone. */
  #look(): void {
    if (this.#restart !== undefined || isProcessAlive(this.#server.pid)) return;
    this.#place.log(`PostgreSQL, process ${this.#server.pid}, ended unexpectedly; starting it again`);
    this.#restart = this.#bringUpAgain().finally(() => {
      this.#restart = undefined;
    });
  }

  /** Tries until the server is up or this holder is stopped. Never rejects. */
  async #bringUpAgain(): Promise<void> {
    while (this.#stopped === undefined) {
      try {
        this.#server = await bringUp(this.#place, this.#options, this.#server.target.port);
        this.#tell();
        return;
      } catch (error) {
        this.#place.log(error instanceof Error ? error.message : String(error));
        await sleep(this.#place.clock, RETRY_MS);
      }
    }
  }
}

/**
 * Starts or adopts the embedded PostgreSQL of the data folder; makes the folder at the first start.
 *
 * Throws embedded_database_unsupported when the platform has no binaries, embedded_database_failed when the server does
 * not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const place = layOut(options);
  return new HeldServer(place, options, await bringUp(place, options));
}
