/** Runs an engine until it is told to stop. */
import type { RunningEngine } from '../wire.js';

/**
 * Waits for SIGTERM or SIGINT, or for the engine to fail, then stops it. A second signal ends the process at once.
 * Throws what the engine failed with.
 */
export async function untilSignal(engine: RunningEngine): Promise<void> {
  const signal = new Promise<void>((resolve) => {
    let asked = false;
    const ask = (): void => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGTERM', ask);
    process.on('SIGINT', ask);
  });
  const failure = await Promise.race([signal.then(() => undefined), engine.failed]);
  await engine.stop();
  if (failure !== undefined) throw failure;
}
