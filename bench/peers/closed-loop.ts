/** A closed loop of callers. */
import type { LoopResult } from './messages.js';
import { quantile } from './statistics.js';

/** How long it goes on: until so many calls were begun, or so many s have passed, whichever comes first. */
export interface LoopLimits {
  readonly callers: number;
  readonly count?: number | undefined;
  readonly seconds?: number | undefined;
}

/** Calls again and again, each caller its next call when its last is done. Throws what a call threw. */
export async function closedLoop(limits: LoopLimits, call: (index: number) => Promise<void>): Promise<LoopResult> {
  const { callers, count = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY } = limits;
  const latencies: number[] = [];
  const beganMs = performance.now();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count && performance.now() - beganMs < seconds * 1000) {
      const index = next;
      next += 1;
      const callMs = performance.now();
      await call(index);
      latencies.push(performance.now() - callMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return {
    runs: latencies.length,
    seconds: (performance.now() - beganMs) / 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}
