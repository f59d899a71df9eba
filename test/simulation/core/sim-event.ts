/** Events, and the processes they happen in. */

/** Something that will happen. */
export interface SimEvent {
  /** Virtual time, microseconds since the beginning. */
  atUs: number;
  tie: number;
  order: number;
  /** Process it happens in; null: the network, the database, fate. */
  readonly actor: Actor | null;
  /** One line for the trace. */
  readonly label: string;
  readonly run: () => void;
  /** It does not happen after all. */
  isCancelled: boolean;
}

/**
 * A process of the simulated world: what happens in it stands still while it is paused and never happens once it died.
 *
 *   running <-> paused;  running | paused -> dead
 */
export class Actor {
  state: 'running' | 'paused' | 'dead' = 'running';
  /** Events that came while it was paused, in order. */
  held: SimEvent[] = [];
  /** Work to be done before the current event of this process ends. */
  deferred: (() => void)[] = [];

  constructor(readonly name: string) {}

  get isAlive(): boolean {
    return this.state !== 'dead';
  }

  /** The process is gone: nothing of it happens any more. */
  die(): void {
    this.state = 'dead';
    this.held = [];
    this.deferred = [];
  }
}
