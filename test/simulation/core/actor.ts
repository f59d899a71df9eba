/**
 * A process of the simulated world: what happens in it stands still while it is paused and never happens once it died.
 *
 *   running <-> paused;  running | paused -> dead
 */
import type { SimEvent } from './scheduler.js';

/** A process. */
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
