/** Runs an engine until it is told to stop. */
import type { Log } from '../telemetry/index.js';
import type { RunningEngine } from '../wire.js';

/**
 * Waits for SIGTERM or SIGINT, then stops the engine. A second signal ends the process at once. SIGUSR2 writes the
 * metrics as one log line.
 */
export async function untilSignal(engine: RunningEngine, log: Log): Promise<void> {
  process.on('SIGUSR2', () => {
    void engine.metrics.values().then((values) => log.error(values, 'metrics'));
  });
  await new Promise<void>((resolve) => {
    let asked = false;
    const ask = (): void => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGTERM', ask);
    process.on('SIGINT', ask);
  });
  await engine.stop();
}
