/**
 * Looks again and again at what has become due, in batches, until nothing more is due.
 *
 *   new -> idle <-> turning -> stopped
 *
 * Every node looks; which of them takes what is the batch's business. Invariant: one turn at a time, and none begins
 * once it is stopped.
 */
import { repeating, type Clock, type Repeating } from '../../kernel/index.js';
import type { Database } from '../../store/index.js';
import { DueWork, type DueKind } from './due-work.js';

/** Most of what is due that is taken at a time. */
export const BATCH = 200;
const LOOK_MS = 1_000;
/** Who does it, in decisions and in the audit trail. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** What each of them works with. */
export interface DueDriverParts {
  readonly db: Database;
  readonly clock: Clock;
  /** Says whether there is anything to look at. Default: one that nobody shares. */
  readonly due?: DueWork;
  readonly onError: (error: unknown) => void;
}

/** See above. */
export abstract class DueDriver<Parts extends DueDriverParts> {
  readonly #kind: DueKind;
  readonly #looks: Repeating;
  readonly #due: DueWork;
  #isKnown = false;

  constructor(
    readonly parts: Parts,
    kind: DueKind,
  ) {
    this.#kind = kind;
    this.#due = parts.due ?? new DueWork(parts.db, parts.clock);
    this.#looks = repeating(parts.clock, LOOK_MS, () => this.turn(), parts.onError);
  }

  /** Takes at most BATCH of what is due and does what there is to do; returns how many it took. */
  protected abstract batch(): Promise<number>;

  start(): void {
    this.#looks.start();
  }

  /** Resolves when nothing of it is under way. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Looks at once: something has become due of which this node knows. */
  wake(): void {
    this.#isKnown = true;
    this.#looks.wake();
  }

  /** Looks at everything that is due; returns how much that was. */
  async turn(): Promise<number> {
    const isKnown = this.#isKnown;
    this.#isKnown = false;
    if (!isKnown && !(await this.#due.has(this.#kind))) return 0;
    for (let count = 0; ;) {
      const taken = await this.batch();
      count += taken;
      if (taken < BATCH || this.#looks.isStopped) return count;
    }
  }
}
