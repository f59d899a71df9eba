/** W5: bytes a finished run leaves, and memory with nothing to do and with many sleepers. */
import { metered } from '../meter.js';
import { type Arena, type Peer, rolesOf } from '../peer.js';
import { proportionalMib, residentMib } from '../processes.js';
import { sleep } from '../wait.js';
import { type Measuring, type Sample, type Workload, scaled } from './workload.js';

const WARM_RUNS = 500;
const STORED_RUNS = 5_000;
const SLEEPERS = 10_000;
const CALLERS = 64;
/** So that buffers are written and garbage is collected. */
const SETTLE_MS = 8_000;
const SLEEP_MS = 3_600_000;

/** Memory of an arena, MiB by role. */
function memory(arena: Arena, peer: Peer, { postmaster }: Measuring): Readonly<Record<string, number>> {
  const roles = [...rolesOf(arena)].filter(([role]) => role !== 'client');
  const sizes = roles.map(([role, pid]) => [role, residentMib(pid)] as const);
  const server = peer.usesPostgres && postmaster !== undefined ? proportionalMib(postmaster) : undefined;
  const known = [...sizes, ['postgres', server] as const].flatMap(([role, size]) =>
    size === undefined ? [] : [[role, size] as const],
  );
  return Object.fromEntries(known);
}

const under = (prefix: string, sizes: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(sizes).map(([role, size]) => [`${prefix}.${role}`, size]));

const total = (sizes: Readonly<Record<string, number>>): number =>
  Object.values(sizes).reduce((sum, size) => sum + size, 0);

async function stored(arena: Arena, how: Measuring): Promise<Readonly<Record<string, number>>> {
  const run = async (count: number): Promise<void> => {
    await arena.client.ask({ do: 'loop', what: 'run', kind: 'seq3', callers: CALLERS, count });
    await sleep(500);
  };
  await run(scaled(WARM_RUNS, how));
  const before = await arena.storedBytes();
  const count = scaled(STORED_RUNS, how);
  await run(count);
  const after = await arena.storedBytes();
  const bytes = (after.plain - before.plain) / count;
  if (after.full === undefined || before.full === undefined) return { bytes };
  return { bytes, bytesFull: (after.full - before.full) / count };
}

async function measured(arena: Arena, peer: Peer, how: Measuring): Promise<Sample['values']> {
  const bytes = await stored(arena, how);
  await sleep(SETTLE_MS);
  const idle = memory(arena, peer, how);
  const count = scaled(SLEEPERS, how);
  const loop = { do: 'loop', what: 'start', kind: 'sleep', callers: CALLERS, count } as const;
  await arena.client.ask({ ...loop, n: Date.now() + SLEEP_MS });
  await sleep(SETTLE_MS);
  const sleeping = memory(arena, peer, how);
  const kibASleeper = ((total(sleeping) - total(idle)) * 1024) / count;
  return { ...bytes, ...under('idle', idle), ...under('sleeping', sleeping), kibASleeper };
}

/** Bytes and memory. */
export const storage: Workload = {
  id: 'w5',
  title: 'W5: 5,000 finished runs of three steps; then 10,000 sleeping ones',
  repsMax: 1,
  rows: [
    { key: 'bytes', label: 'bytes a finished run (VACUUM)', better: 'less' },
    { key: 'bytesFull', label: 'bytes a finished run (VACUUM FULL)', better: 'less' },
    { key: 'idle.engine', label: 'idle: engine or server, MiB', better: 'less' },
    { key: 'idle.worker', label: 'idle: worker, MiB', better: 'less' },
    { key: 'idle.postgres', label: 'idle: Postgres, MiB', better: 'less' },
    { key: 'sleeping.engine', label: '10,000 sleepers: engine or server, MiB', better: 'less' },
    { key: 'sleeping.worker', label: '10,000 sleepers: worker, MiB', better: 'less' },
    { key: 'sleeping.postgres', label: '10,000 sleepers: Postgres, MiB', better: 'less' },
    { key: 'kibASleeper', label: 'KiB a sleeper, all processes', better: 'less' },
  ],
  async measure(peer, how) {
    const arena = await peer.setUp({ via: 'direct', slots: 64 });
    try {
      const who = { roles: rolesOf(arena), postmaster: how.postmaster };
      const { value: values, load } = await metered(who, () => measured(arena, peer, how));
      return { values, foreign: load?.foreign };
    } finally {
      await arena.close();
    }
  },
};
