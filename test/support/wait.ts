/** Waiting in tests that watch real processes: the machine's own time, with a limit on everything. */

/** Resolves after so many ms. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** How long and how often to look. */
export interface UntilOptions {
  /** Default 20,000 ms. */
  readonly limitMs?: number;
  /** Default 20 ms. */
  readonly everyMs?: number;
  /** Put behind the message of a wait that failed. */
  readonly detail?: () => string;
}

/**
 * Waits until the look finds something other than undefined or false, and returns it. Throws what the look threw, or
 * an error that names what was waited for.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<T, undefined | false>> {
  const { limitMs = 20_000, everyMs = 20, detail } = options;
  const endMs = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (isFound(found)) return found;
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms for ${what}\n${detail?.() ?? ''}`);
    await sleep(everyMs);
  }
}

function isFound<T>(found: T): found is Exclude<T, undefined | false> {
  return found !== undefined && found !== false;
}

/** Calls again while it throws, with a pause, until the limit; then throws its last error. */
export async function retrying<T>(work: () => Promise<T>, limitMs = 20_000, pauseMs = 50): Promise<T> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await sleep(pauseMs);
    }
  }
}
