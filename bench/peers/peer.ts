/** An engine under measurement: how it is set up, once for each repetition. */
import type { Member } from './member.js';
import type { PeerName } from './peer-names.js';
import type { Via } from './side.js';

/** How it is to be set up. */
export interface SetUp {
  /**
   * How runs are started. Processes are engine or server, worker and client, each its own; where the engine is a
   * library and `via` is `direct`, one process is all of them. With `later` nobody executes the runs.
   */
  readonly via: Via;
  /** Step bodies a worker runs at once, where the engine knows such a limit. */
  readonly slots: number;
  /** File for the steps of slow3. */
  readonly stepLog?: string;
  /** Whether processes can be asked for a CPU profile. */
  readonly isProfiled?: boolean;
}

/** Bytes stored. */
export interface Stored {
  /** As they lie there; in PostgreSQL after VACUUM. */
  readonly plain: number;
  /** In PostgreSQL after VACUUM FULL; else undefined. */
  readonly full: number | undefined;
}

/** A fresh system of one engine: empty database, new processes. */
export interface Arena {
  /** Starts runs and tells how many have completed. */
  readonly client: Member;
  /** Executes steps; undefined with `later`. The same as the client where one process is both. */
  readonly worker: Member | undefined;
  /** Its processes by role: engine (or server), worker, client. */
  readonly members: ReadonlyMap<string, Member>;
  storedBytes(): Promise<Stored>;
  /** Kills engine or server and worker at once, with SIGKILL. */
  crash(): Promise<void>;
  /** Starts again what crash killed, all at the same time. Resolves when it was spawned. */
  revive(): Promise<void>;
  /** Ends everything and removes its data. */
  close(): Promise<void>;
}

/** An engine. */
export interface Peer {
  readonly name: PeerName;
  /** As the table's head shows it. */
  readonly title: string;
  /** Whether it stores in the run's PostgreSQL. */
  readonly usesPostgres: boolean;
  setUp(options: SetUp): Promise<Arena>;
}

/** Process ids of an arena by role. */
export function rolesOf(arena: Arena): ReadonlyMap<string, number> {
  return new Map([...arena.members].map(([role, member]) => [role, member.pid]));
}
