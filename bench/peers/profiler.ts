/** V8's profiler of this process, started and stopped on orders, so that a profile holds the measured time alone. */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import type { ProfileOrder } from './messages.js';

/** Microseconds between samples. */
const INTERVAL_US = 500;
const session = new Session();

/** Starts the profiler, or stops it and writes the file. */
export async function obeyProfileOrder(order: ProfileOrder): Promise<void> {
  if (order.do === 'profile-start') {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  writeFileSync(order.file, JSON.stringify(profile));
}
