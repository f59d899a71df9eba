/** Waiting between tries while something outside is away. */
import { sleep, type Clock } from '../../kernel/index.js';

const FIRST_MS = 50;
const LAST_MS = 2_000;

/** The wait before try number `tries` + 1: 50 ms, doubling up to 2 s. */
export function backoffMs(tries: number): number {
  return Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(tries, 16));
}

/**
 * Calls until it works or nobody wants it any more.
 *
 * @param wanted asked before each try
 * @param failed told of each failure
 * @returns undefined when it was no longer wanted
 */
export async function untilDone<T>(
  clock: Clock,
  wanted: () => boolean,
  call: () => Promise<T>,
  failed: (error: unknown) => void,
): Promise<T | undefined> {
  for (let tries = 0; wanted(); tries += 1) {
    try {
      return await call();
    } catch (error) {
      failed(error);
      await sleep(clock, backoffMs(tries));
    }
  }
  return undefined;
}
