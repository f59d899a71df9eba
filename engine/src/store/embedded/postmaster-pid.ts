/** Reads postmaster.pid, the file by which PostgreSQL tells that a server owns a data folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the file and the process table say. */
export type Postmaster =
  | { readonly state: 'none' }
  /** The file was left behind: its process is gone, a zombie, or something else that got the number again. */
  | { readonly state: 'dead'; readonly pid: number; readonly reused: boolean }
  | { readonly state: 'alive'; readonly pid: number; readonly port: number; readonly status: string };

/** Text of a small file, or undefined when it cannot be read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether a process of that number exists and is not a zombie. EPERM means it exists but belongs to another user. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  // The state stands behind the command, which is in parentheses and may hold anything.
  const stat = readText(`/proc/${pid}/stat`);
  return stat === undefined || !/\) [ZX]/.test(stat.slice(stat.lastIndexOf(')')));
}

/** Whether the live process is known not to be PostgreSQL (numbers repeat, in containers after every restart). */
function isOtherProgram(pid: number): boolean {
  const command = readText(`/proc/${pid}/cmdline`);
  return command !== undefined && command !== '' && !command.split('\0', 1).join('').includes('postgres');
}

/** State of the postmaster of a data folder. */
export function readPostmaster(dataFolder: string): Postmaster {
  const text = readText(join(dataFolder, 'postmaster.pid'));
  const lines = text?.split('\n') ?? [];
  const pid = Number(lines[0]);
  // The file is created empty and filled afterwards: without a number yet it counts as absent.
  if (!Number.isInteger(pid) || pid <= 0) return { state: 'none' };
  if (!isProcessAlive(pid)) return { state: 'dead', pid, reused: false };
  if (isOtherProgram(pid)) return { state: 'dead', pid, reused: true };
  return { state: 'alive', pid, port: Number(lines[3] ?? '0'), status: (lines[7] ?? '').trim() };
}
