/** Starts embedded-child.ts as a process of its own and listens to what it says. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { impossible, sleep, systemClock } from '../../kernel/index.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const SCRIPT = fileURLToPath(new URL('./embedded-child.ts', import.meta.url));

/** What the child says when its server is up. */
export interface ChildReady {
  readonly url: string;
  readonly pid: number;
  readonly adopted: boolean;
  readonly uid: number;
}

/** A running child. */
export interface EmbeddedChild {
  readonly process: ChildProcess;
  /** Resolves with its first line; rejects with what it wrote to stderr if it ends before. */
  readonly ready: Promise<ChildReady>;
  /** Numbers of the rows it was told are committed. */
  readonly acked: readonly number[];
  /** Kills it with SIGKILL and waits for its end. */
  kill(): Promise<void>;
}

/** How to start the child. */
export interface ChildOptions {
  readonly mode: 'start' | 'write';
  readonly dataDir: string;
  readonly nativeFolder?: string;
  /** User to run as; only root may choose. */
  readonly uid?: number;
}

/** Reads the child's first line. */
function isReady(value: unknown): value is ChildReady {
  return typeof value === 'object' && value !== null && 'url' in value && 'pid' in value && 'adopted' in value;
}

/** Starts the child. */
export function startChild(options: ChildOptions): EmbeddedChild {
  const { mode, dataDir, nativeFolder, uid } = options;
  const args = ['--import', 'tsx', SCRIPT, mode, dataDir, ...(nativeFolder === undefined ? [] : [nativeFolder])];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid, env: { PATH: process.env['PATH'], HOME: '/nonexistent' } }),
  });
  const acked: number[] = [];
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  const ready = new Promise<ChildReady>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const number = /^acked (\d+)$/.exec(line)?.[1];
      if (number !== undefined) return void acked.push(Number(number));
      const value: unknown = JSON.parse(line);
      if (isReady(value)) resolve(value);
    });
    child.once('close', () => {
      try {
        impossible('embedded-child-ended', errors);
      } catch (error) {
        reject(error instanceof Error ? error : impossible('embedded-child-error', String(error)));
      }
    });
  });
  ready.catch(() => undefined);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  return { process: child, ready, acked, kill };
}

/** Id of a process's parent; 0 when it is gone. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}

/** Kills a server with all its processes at once, as a power cut or an out-of-memory killer would. */
export function killTree(pid: number): void {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
  for (const victim of [pid, ...all.filter((other) => parentOf(other) === pid)]) {
    try {
      process.kill(victim, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
}

/** Waits until the condition holds; throws internal after 20 s. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const clock = systemClock();
  for (let tries = 0; tries < 4_000; tries += 1) {
    if (await condition()) return;
    await sleep(clock, 5);
  }
  impossible('test-until', `waited too long for ${what}`);
}
