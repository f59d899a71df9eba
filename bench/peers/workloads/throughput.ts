/** W1, W2: closed loops of whole runs. W4: closed loop of starts alone. */
import { type Kind, STEPS_OF } from '../kinds.js';
import { type LoopOrder, type LoopResult, loopResult } from '../messages.js';
import { metered } from '../meter.js';
import { type Arena, type Peer, rolesOf } from '../peer.js';
import { profiled } from '../profile.js';
import type { WorkloadId } from '../workload-ids.js';
import type { Measuring, Row, Sample, Workload } from './workload.js';

const CORES: readonly Row[] = [
  { key: 'cores.engine', label: 'cores: engine or server', better: 'none' },
  { key: 'cores.worker', label: 'cores: worker (DBOS: the whole app)', better: 'none' },
  { key: 'cores.client', label: 'cores: client', better: 'none' },
  { key: 'cores.postgres', label: 'cores: Postgres', better: 'none' },
];
const LATENCY: readonly Row[] = [
  { key: 'p50', label: 'p50, ms', better: 'less' },
  { key: 'p99', label: 'p99, ms', better: 'less' },
];

/** Which loop. */
interface Shape {
  readonly what: LoopOrder['what'];
  readonly kind: Kind;
  readonly callers: number;
}

/** Warms up, measures, and profiles the measured time where that is asked for. */
async function loop(arena: Arena, peer: Peer, shape: Shape, how: Measuring): Promise<Sample & { done: LoopResult }> {
  const ask = async (seconds: number): Promise<LoopResult> =>
    loopResult.parse(await arena.client.ask({ do: 'loop', ...shape, seconds }));
  await ask(how.warmSeconds);
  const who = { roles: rolesOf(arena), postmaster: how.postmaster };
  const { value: done, load } = await metered(who, () => profiled(arena, how.profilePrefix, () => ask(how.seconds)));
  const cores = Object.entries(load?.cores ?? {})
    .filter(([role]) => role !== 'postgres' || peer.usesPostgres)
    .map(([role, used]) => [`cores.${role}`, used] as const);
  const values = { p50: done.p50, p99: done.p99, ...Object.fromEntries(cores) };
  return { values, foreign: load?.foreign, done };
}

/** Whole runs, so many at once. */
export function runsWorkload(id: WorkloadId, title: string, kind: Kind, callers: number): Workload {
  return {
    id,
    title,
    rows: [
      { key: 'runsPerS', label: 'runs/s', better: 'more' },
      { key: 'stepsPerS', label: 'steps/s', better: 'more', perRaw: true },
      ...LATENCY,
      ...CORES,
    ],
    async measure(peer, how) {
      const arena = await peer.setUp({ via: 'direct', slots: 1024, isProfiled: how.profilePrefix !== undefined });
      try {
        const { values, foreign, done } = await loop(arena, peer, { what: 'run', kind, callers }, how);
        const runsPerS = done.runs / done.seconds;
        return { values: { ...values, runsPerS, stepsPerS: runsPerS * STEPS_OF[kind] }, foreign };
      } finally {
        await arena.close();
      }
    },
  };
}

/** Starts alone, by so many callers; nothing executes the runs. */
export function startsWorkload(id: WorkloadId, title: string, callers: number): Workload {
  return {
    id,
    title,
    rows: [{ key: 'startsPerS', label: 'starts/s', better: 'more', perRaw: true }, ...LATENCY, ...CORES],
    async measure(peer, how) {
      const arena = await peer.setUp({ via: 'later', slots: 1, isProfiled: how.profilePrefix !== undefined });
      try {
        const { values, foreign, done } = await loop(arena, peer, { what: 'start', kind: 'seq3', callers }, how);
        return { values: { ...values, startsPerS: done.runs / done.seconds }, foreign };
      } finally {
        await arena.close();
      }
    },
  };
}
