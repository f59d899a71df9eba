/** Database time that stands still, and passes as far as a test says. */
import type { Database } from '../../engine/src/store/index.js';
import { replaceDatabaseClock, type DatabaseClock } from '../../engine/src/store/testing/index.js';

/** A Saturday, 10:45 UTC. */
export const STEPPED_START_US = 1_783_766_700_000_000;

/** See above. */
export class SteppedTime {
  /** What ductor_now() says, us. */
  nowUs = STEPPED_START_US;
  readonly #clock: DatabaseClock;

  private constructor(clock: DatabaseClock) {
    this.#clock = clock;
  }

  /** Stops the time of a database at STEPPED_START_US. */
  static async begin(db: Database): Promise<SteppedTime> {
    const time = new SteppedTime(await replaceDatabaseClock(db));
    await time.pass(0);
    return time;
  }

  /** So many seconds pass. */
  async pass(seconds: number): Promise<void> {
    this.nowUs += seconds * 1_000_000;
    await this.#clock.freeze(this.nowUs);
  }
}
