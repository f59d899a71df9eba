/**
 * A process's clock. In half of the worlds it is a model: virtual time with an error of its own, anywhere within the
 * bound it states. In the others it is the engine's own: it learns database time from answers, on a machine whose clock
 * is minutes off and runs a little too fast or too slow.
 */
import { learningClock, type SystemClock, type Timer } from '../../../engine/src/kernel/index.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';

/** How far behind database time an estimate may be; nothing bounds this, it only makes timers late. */
const BEHIND_MAX_US = 400_000;
const LATE_TIMER_MAX_US = 1_500;
/** How fast or slow crystals are, parts per million. */
const DRIFT_MAX_PPM = 100;
const SKEW_MAX_MS = 5 * 60_000;

/** A clock with a hand on its error. */
export interface SimClock extends SystemClock {
  /** It knows database time only from what it observes. */
  readonly isLearning: boolean;
  /** Draws another error bound and another error within it. False: it has none to draw. */
  step(): boolean;
  /** The clock of the machine is set, by minutes. False: there is none. */
  jump(byMs: number): boolean;
}

/** What worlds do to clocks. */
export interface ClockWorld {
  /** Estimates of database time are wrong. */
  readonly isSkewed: boolean;
  /** They are the engine's own. */
  readonly isLearning: boolean;
}

/** The clock of a process. Its timers are events of the process. */
export function simClock(sim: Sim, actor: Actor, world: ClockWorld): SimClock {
  return world.isLearning ? learning(sim, actor) : model(sim, actor, world.isSkewed);
}

function timers(sim: Sim, actor: Actor, rate: number) {
  const setTimer = (delayMs: number, callback: () => void): Timer => {
    const delayUs = Math.max(0, delayMs / rate) * 1000 + sim.choices.int(0, LATE_TIMER_MAX_US);
    const event = sim.scheduler.after(delayUs, actor, 'timer', callback);
    return {
      cancel: () => {
        event.isCancelled = true;
      },
    };
  };
  return { setTimer, defer: (callback: () => void): void => void actor.deferred.push(callback) };
}

function model(sim: Sim, actor: Actor, isSkewed: boolean): SimClock {
  const bornUs = sim.scheduler.nowUs;
  let boundUs = 0;
  let aheadUs = 0;
  const step = (): boolean => {
    boundUs = isSkewed ? sim.choices.oneOf(0, 2_000, 50_000, 500_000) : 0;
    aheadUs = isSkewed ? sim.choices.int(-BEHIND_MAX_US, boundUs) : 0;
    return isSkewed;
  };
  step();
  return {
    nowUs: () => sim.nowUs + aheadUs,
    errorUs: () => boundUs,
    monotonicMs: () => (sim.scheduler.nowUs - bornUs) / 1000,
    ...timers(sim, actor, 1),
    observe: () => undefined,
    isLearning: false,
    step,
    jump: () => false,
  };
}

function learning(sim: Sim, actor: Actor): SimClock {
  const { choices, faults } = sim;
  const bornUs = sim.scheduler.nowUs;
  const rate = 1 + choices.int(-DRIFT_MAX_PPM, DRIFT_MAX_PPM) / 1_000_000;
  let skewMs = faults.strikes('clock_skew') ? choices.int(-SKEW_MAX_MS, SKEW_MAX_MS) : 0;
  const clock = learningClock({
    monotonicMs: () => ((sim.scheduler.nowUs - bornUs) / 1000) * rate,
    wallMs: () => sim.nowUs / 1000 + skewMs,
    ...timers(sim, actor, rate),
  });
  const jump = (byMs: number): boolean => {
    skewMs += byMs;
    return true;
  };
  return { ...clock, isLearning: true, step: () => false, jump };
}
