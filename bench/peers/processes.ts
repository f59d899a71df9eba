/**
 * What processes use of the machine, read from /proc. On machines without it nothing is known and every figure is
 * undefined.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** What a process has used since it began. */
export interface ProcessTimes {
  readonly parent: number;
  /** Processor time of its threads, s. */
  readonly ownSeconds: number;
  /** Processor time of children that have ended and were waited for, s. */
  readonly reapedSeconds: number;
}

/** One look at the machine. */
export interface Snapshot {
  /** Processor time of everything, s. */
  readonly busySeconds: number;
  readonly processes: ReadonlyMap<number, ProcessTimes>;
}

const TICKS_PER_SECOND = 100;
const MIB = 1024;

/** Parses /proc/<pid>/stat; the command between parentheses may hold anything. Pure. */
export function parseStat(text: string): ProcessTimes | undefined {
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = Number.NaN, user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = [1, 11, 12, 13, 14].map(
    (at) => fields[at],
  );
  if (!Number.isInteger(parent)) return undefined;
  const seconds = (ticks: number): number => ticks / TICKS_PER_SECOND;
  return { parent, ownSeconds: seconds(user + system), reapedSeconds: seconds(reapedUser + reapedSystem) };
}

/** Busy time in the first line of /proc/stat: user, nice, system, interrupts, stolen; not idle, not waiting. Pure. */
export function parseBusy(text: string): number {
  const fields = (text.split('\n')[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  return [0, 1, 2, 5, 6, 7].reduce((sum, at) => sum + (fields[at] ?? 0), 0) / TICKS_PER_SECOND;
}

/** Looks at every process. Undefined without /proc. */
export function lookAround(): Snapshot | undefined {
  if (!existsSync('/proc/stat')) return undefined;
  const processes = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const times = Number.isInteger(pid) ? parseStat(readOr(`/proc/${pid}/stat`)) : undefined;
    if (times !== undefined) processes.set(pid, times);
  }
  return { busySeconds: parseBusy(readFileSync('/proc/stat', 'utf8')), processes };
}

/** Processor time of a process and everything below it, dead or alive, without the subtree of one. Pure. */
export function treeSeconds({ processes }: Snapshot, root: number, without?: number): number {
  let sum = 0;
  for (const [pid, times] of processes) {
    if (!isBelow(processes, pid, root)) continue;
    if (without !== undefined && isBelow(processes, pid, without)) continue;
    sum += times.ownSeconds + times.reapedSeconds;
  }
  return sum;
}

/** Whether a process is the root or descends from it. */
function isBelow(processes: ReadonlyMap<number, ProcessTimes>, pid: number, root: number): boolean {
  for (let at = pid; at > 1; at = processes.get(at)?.parent ?? 0) if (at === root) return true;
  return false;
}

/** Resident memory of a process, MiB. */
export function residentMib(pid: number): number | undefined {
  return kibibytes(`/proc/${pid}/status`, 'VmRSS');
}

/** Memory of a process and its children, MiB, each shared page counted once over all who share it. */
export function proportionalMib(root: number): number | undefined {
  const { processes } = lookAround() ?? { processes: new Map<number, ProcessTimes>() };
  const below = [...processes.keys()].filter((pid) => isBelow(processes, pid, root));
  const sizes = below.map((pid) => kibibytes(`/proc/${pid}/smaps_rollup`, 'Pss'));
  return sizes.length === 0 ? undefined : sizes.reduce((sum: number, size) => sum + (size ?? 0), 0);
}

function kibibytes(file: string, field: string): number | undefined {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readOr(file));
  return found === null ? undefined : Number(found[1]) / MIB;
}

/** A file's text; empty when it cannot be read: processes come and go. */
function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
