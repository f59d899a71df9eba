/** A process's clock: virtual time with an error of its own that stays within the bound it states. */
import type { Clock, Timer } from '../../../engine/src/kernel/index.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';

/** How far behind database time an estimate may be; nothing bounds this, it only makes timers late. */
const BEHIND_MAX_US = 400_000;
const LATE_TIMER_MAX_US = 1_500;

/** A clock with a hand on its error. */
export interface SimClock extends Clock {
  /** Draws another error bound and another error within it. */
  step(): void;
}

/** The clock of a process. Its timers are events of the process. */
export function simClock(sim: Sim, actor: Actor, isSkewed: boolean): SimClock {
  const bornUs = sim.scheduler.nowUs;
  let boundUs = 0;
  let aheadUs = 0;
  const step = (): void => {
    boundUs = isSkewed ? sim.choices.oneOf(0, 2_000, 50_000, 500_000) : 0;
    aheadUs = isSkewed ? sim.choices.int(-BEHIND_MAX_US, boundUs) : 0;
  };
  step();
  const setTimer = (delayMs: number, callback: () => void): Timer => {
    const delayUs = Math.max(0, delayMs) * 1000 + sim.choices.int(0, LATE_TIMER_MAX_US);
    const event = sim.scheduler.after(delayUs, actor, 'timer', callback);
    return {
      cancel: () => {
        event.isCancelled = true;
      },
    };
  };
  return {
    nowUs: () => sim.nowUs + aheadUs,
    errorUs: () => boundUs,
    monotonicMs: () => (sim.scheduler.nowUs - bornUs) / 1000,
    setTimer,
    defer: (callback) => void actor.deferred.push(callback),
    step,
  };
}
