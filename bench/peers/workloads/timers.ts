/** W3: a thousand runs sleep until the same instant; how late does their code go on? */
import { z } from 'zod';
import { metered } from '../meter.js';
import { type Arena, rolesOf } from '../peer.js';
import { profiled } from '../profile.js';
import { quantile } from '../statistics.js';
import { sleep } from '../wait.js';
import { type Measuring, type Workload, scaled } from './workload.js';

const TIMERS = 1_000;
const CALLERS = 64;
const WARM_TIMERS = 50;
/** From the first start to the instant; starts that are not over by then spoil the repetition. */
const AHEAD_MS = 4_000;
const WARM_AHEAD_MS = 3_000;
const LIMIT_MS = 60_000;
const lateness = z.array(z.number());

/** Starts so many sleepers until an instant so far ahead and waits for all. Returns by how many ms they were late. */
async function sleepers(arena: Arena, count: number, aheadMs: number): Promise<readonly number[]> {
  const dueMs = Date.now() + aheadMs;
  await arena.client.ask({ do: 'loop', what: 'start', kind: 'sleep', callers: CALLERS, count, n: dueMs });
  if (Date.now() > dueMs - 100) throw new Error(`starting ${count} sleepers took longer than ${aheadMs} ms`);
  const endMs = dueMs + LIMIT_MS;
  const late: number[] = [];
  while (late.length < count) {
    if (Date.now() > endMs) throw new Error(`only ${late.length} of ${count} sleepers woke within ${LIMIT_MS} ms`);
    // Asking must not disturb what is measured: first when everything should be over.
    await sleep(Math.max(200, dueMs + 1_000 - Date.now()));
    late.push(...lateness.parse(await arena.worker?.ask({ do: 'lateness' })));
  }
  return late;
}

/** A thousand timers due at once. */
export const timers: Workload = {
  id: 'w3',
  title: 'W3: 1,000 timers due at the same instant',
  rows: [
    { key: 'late50', label: 'late p50, ms', better: 'less' },
    { key: 'late99', label: 'late p99, ms', better: 'less' },
    { key: 'lateMax', label: 'late at most, ms', better: 'less' },
  ],
  async measure(peer, how: Measuring) {
    const count = scaled(TIMERS, how);
    const arena = await peer.setUp({ via: 'direct', slots: TIMERS, isProfiled: how.profilePrefix !== undefined });
    try {
      await sleepers(arena, Math.min(count, WARM_TIMERS), WARM_AHEAD_MS);
      const who = { roles: rolesOf(arena), postmaster: how.postmaster };
      const { value: late, load } = await metered(who, () =>
        profiled(arena, how.profilePrefix, () => sleepers(arena, count, AHEAD_MS)),
      );
      const values = { late50: quantile(late, 0.5), late99: quantile(late, 0.99), lateMax: Math.max(...late) };
      return { values, foreign: load?.foreign };
    } finally {
      await arena.close();
    }
  },
};
