/** Commands that look again and again, until they are interrupted. */
import { DuctorError, sleep } from '../kernel/index.js';
import type { CliContext } from './context.js';

const PERIOD_MS = 1_000;

/** How long is looked. */
export interface Watching {
  /** Looks after which it ends; undefined: none. */
  readonly count: number | undefined;
  /** Ends it, well. */
  readonly stopped: Promise<void>;
}

/**
 * Looks once a second. An engine that does not answer is waited for. Throws whatever else a look throws.
 *
 * @param look asks for what is to be seen
 * @param show shows it
 */
export async function watchRepeatedly<T>(
  { terminal, clock }: Pick<CliContext, 'terminal' | 'clock'>,
  { count, stopped }: Watching,
  look: () => Promise<T>,
  show: (seen: T) => Promise<void> | void,
): Promise<void> {
  let isStopped = false;
  const end = stopped.then(() => void (isStopped = true));
  for (let looks = 1; ; looks += 1) {
    try {
      const seen = await Promise.race([look().then((value) => ({ value })), end]);
      if (seen !== undefined) await show(seen.value);
    } catch (caught) {
      const error = DuctorError.from(caught);
      if (error.code !== 'engine_unreachable') throw error;
      terminal.err(`${error.message}; trying again\n`);
    }
    if (isStopped || looks === count) return;
    await Promise.race([sleep(clock, PERIOD_MS), end]);
    if (isStopped) return;
  }
}

/** Runs something that Ctrl-C ends well. */
export async function untilInterrupt(work: (stopped: Promise<void>) => Promise<void>): Promise<void> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  process.once('SIGINT', stop);
  try {
    await work(stopped);
  } finally {
    process.off('SIGINT', stop);
  }
}
