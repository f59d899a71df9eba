/**
 * Starts that an engine refuses for the moment, since it is asked for more than it can do, or has only just begun.
 * Nothing was started then, so the same start may be sent again, with or without an idempotency key. How much later the
 * engine says; each further refusal doubles it, and chance spreads those who were refused together.
 */
import { DuctorError } from '../errors.js';
import type { System } from '../connection/system.js';

/** Refusals by which nothing was started, and that pass. */
const PASSING: ReadonlySet<string> = new Set(['limit_exceeded', 'node_starting']);
/** How long a start is sent again. */
const PATIENCE_MS = 10_000;
/** Where the engine says nothing. */
const DEFAULT_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/** The refusal, when it passes and time is left to wait it out. */
function passing(error: unknown, leftMs: number): DuctorError | undefined {
  const isPassing = error instanceof DuctorError && error.retryable && PASSING.has(error.code);
  return isPassing && leftMs > 0 ? error : undefined;
}

/** Resolves after so many ms; the process lives until then. */
function wait(system: System, ms: number): Promise<void> {
  const life = system.keepAlive();
  return new Promise((resolve) => {
    system.after(ms, () => {
      life.cancel();
      resolve();
    });
  });
}

/** Tries until it is accepted, refused for good, or patience ends; then it throws what it was refused with. */
export async function pastRefusals<T>(start: () => Promise<T>, system: System): Promise<T> {
  const untilMs = system.now() + PATIENCE_MS;
  for (let tries = 0; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      const refusal = passing(error, untilMs - system.now());
      if (refusal === undefined) throw error;
      const saidMs = (refusal.retryAfterMs ?? DEFAULT_WAIT_MS) * 2 ** tries;
      const waitMs = Math.min(LONGEST_WAIT_MS, saidMs) * (1 + system.random());
      await wait(system, Math.min(waitMs, Math.max(1, untilMs - system.now())));
    }
  }
}
