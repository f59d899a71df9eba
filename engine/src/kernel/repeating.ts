/**
 * Work that is done again and again: a pause after it has ended, until it is stopped.
 *
 *   new -> resting <-> working;  any -> stopped
 *
 * Invariants:
 * 1. One at a time.
 * 2. Once it is stopped nothing begins and no timer is left, also when work was under way: a timer that is set behind
 *    it would keep the process alive.
 */
import type { Clock, Timer } from './clock.js';

/** Such work. */
export interface Repeating {
  readonly isStopped: boolean;
  /** Begins with a pause. Call it once. */
  start(): void;
  /** Begins at once instead of after its pause; while it is under way, once more right behind. */
  wake(): void;
  /** Nothing begins any more; resolves when nothing of it is under way. */
  stop(): Promise<void>;
}

/**
 * Work that is done again and again.
 *
 * @param pauseMs between the end of one and the beginning of the next, ms
 * @param work what is done; it may look at isStopped to end sooner
 * @param onError told what it threw; the next one begins all the same
 */
export function repeating(
  clock: Clock,
  pauseMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Repeating {
  let timer: Timer | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  let isWorking = false;
  let isWoken = false;
  const begin = (): void => {
    [timer, isWorking, isWoken] = [undefined, true, false];
    underWay = work().catch(onError).then(goOn);
  };
  const goOn = (): void => {
    isWorking = false;
    if (isStopped) return;
    if (isWoken) begin();
    else timer = clock.setTimer(pauseMs, begin);
  };
  return {
    get isStopped() {
      return isStopped;
    },
    start: goOn,
    wake() {
      isWoken = isWorking;
      if (timer === undefined) return;
      timer.cancel();
      begin();
    },
    async stop() {
      isStopped = true;
      timer?.cancel();
      timer = undefined;
      await underWay;
    },
  };
}
