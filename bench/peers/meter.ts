/** Measures what processes use of the cores during a stretch of time, and what others use beside them. */
import { type Snapshot, lookAround, treeSeconds } from './processes.js';

/** What was used, in cores: 1 is one core all the time. */
export interface Load {
  /** By role: engine, worker, client, postgres. */
  readonly cores: Readonly<Record<string, number>>;
  /** By programs that are no part of the bench. */
  readonly foreign: number;
}

/** Who is measured. */
export interface Metered {
  /** Process ids by role. */
  readonly roles: ReadonlyMap<string, number>;
  /** The database server's first process. */
  readonly postmaster: number | undefined;
}

/** Runs the work and measures meanwhile; the load is undefined where the machine does not tell it. */
export async function metered<T>(who: Metered, work: () => Promise<T>): Promise<{ value: T; load: Load | undefined }> {
  const before = lookAround();
  const beganMs = performance.now();
  const value = await work();
  const seconds = (performance.now() - beganMs) / 1000;
  const after = lookAround();
  if (before === undefined || after === undefined) return { value, load: undefined };
  return { value, load: loadBetween(who, before, after, { seconds, self: process.pid }) };
}

/** The load between two looks. Pure. */
export function loadBetween(
  { roles, postmaster }: Metered,
  before: Snapshot,
  after: Snapshot,
  { seconds, self }: { readonly seconds: number; readonly self: number },
): Load {
  const used = (measure: (snapshot: Snapshot) => number): number => (measure(after) - measure(before)) / seconds;
  const own = (pid: number) => (snapshot: Snapshot) => snapshot.processes.get(pid)?.ownSeconds ?? 0;
  const cores: Record<string, number> = {};
  for (const [role, pid] of roles) cores[role] = used(own(pid));
  const server = postmaster === undefined ? 0 : used((snapshot) => treeSeconds(snapshot, postmaster));
  if (postmaster !== undefined) cores['postgres'] = server;
  const bench = used((snapshot) => treeSeconds(snapshot, self, postmaster));
  return { cores, foreign: Math.max(0, used((snapshot) => snapshot.busySeconds) - bench - server) };
}
