/** What every part of the simulated world shares. */
import type { Faults } from '../faults.js';
import type { Marks } from '../marks.js';
import type { Actor } from './sim-event.js';
import type { Choices } from './choices.js';
import type { Scheduler } from './scheduler.js';
import type { Trace } from './trace.js';

/** When the simulated world begins: 2026-01-01T00:00:00Z, microseconds since 1970. */
const BEGIN_US = 1_767_225_600_000_000;

/** One world. */
export class Sim {
  /** What must never happen and did, in words; the first ends the seed. */
  readonly violations: string[] = [];
  /** Strikes the process that next sends a commit, while that is under way; null: nobody waits for one. */
  ambush: ((actor: Actor) => void) | null = null;

  constructor(
    readonly scheduler: Scheduler,
    readonly choices: Choices,
    readonly faults: Faults,
    readonly marks: Marks,
    readonly trace: Trace,
    /** What wide worlds draw from; null: this is none. */
    readonly wide: Choices | null = null,
  ) {}

  /** Time of the world and of its database, microseconds since 1970. */
  get nowUs(): number {
    return BEGIN_US + this.scheduler.nowUs;
  }

  /** Something happened that must never happen. */
  violate(what: string): void {
    this.violations.push(what);
    this.note(`VIOLATION ${what}`);
  }

  /** A line in the trace. */
  note(what: string, who = '-'): void {
    this.trace.line(this.scheduler.nowUs, who, what);
  }
}
