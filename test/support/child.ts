/**
 * Child processes of tests and of the demo.
 *
 * States of a child: RUNNING (also while stopped by SIGSTOP) -> EXITED.
 * Invariants
 *   C1 every child that was started stands in LIVE until it has exited.
 *   C2 when this process ends, whatever stands in LIVE is killed: no child outlives its test.
 *   C3 a child never sees settings of the machine (DATABASE_URL, DUCTOR_*): only those it is given.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Root of the project. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What to run. */
export interface ChildOptions {
  /** For messages. */
  readonly name: string;
  /** Arguments of node. */
  readonly args: readonly string[];
  /** Default: the project's root. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Told of every line on either output. */
  readonly onLine?: (line: string) => void;
  /** Told of what it sends; then it can also be sent something. Default: no channel. */
  readonly onMessage?: (message: unknown) => void;
}

const OUTPUT_CHARS_MAX = 256 * 1024;
const LIVE = new Set<Child>();
const PIDS: number[] = [];
let guarded = false;

/** A running node process. */
export class Child {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it has ended and its output was read. */
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcess;
  #output = '';
  #isRunning = true;

  constructor(options: ChildOptions) {
    this.name = options.name;
    this.#process = spawn(process.execPath, [...options.args], {
      cwd: options.cwd ?? ROOT,
      env: { ...plainEnv(), ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', ...(options.onMessage === undefined ? [] : ['ipc' as const])],
    });
    if (options.onMessage !== undefined) this.#process.on('message', options.onMessage);
    const { pid, stdout, stderr } = this.#process;
    if (pid === undefined || stdout === null || stderr === null) throw new Error(`${this.name} could not be spawned`);
    this.pid = pid;
    PIDS.push(pid);
    for (const stream of [stdout, stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#output = `${this.#output}${line}\n`.slice(-OUTPUT_CHARS_MAX);
        options.onLine?.(line);
      });
    }
    this.exited = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        this.#isRunning = false;
        LIVE.delete(this);
        resolve({ code, signal });
      });
    });
    LIVE.add(this);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The last 256 KiB of what it wrote. */
  get output(): string {
    return this.#output;
  }

  /** Sends it something, as `process.on('message')` hears it; it was started with `onMessage`. */
  send(message: object): void {
    this.#process.send(message);
  }

  /** Sends a signal; nothing when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.#isRunning) this.#process.kill(signal);
  }

  /** SIGKILL; resolves when it has ended. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** SIGTERM; resolves with how it ended. Throws when it had to be killed because that took longer than the limit. */
  async stop(limitMs = 20_000): Promise<Exit> {
    this.signal('SIGTERM');
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      this.signal('SIGKILL');
    }, limitMs);
    const exit = await this.exited;
    clearTimeout(limit);
    if (isLate) throw new Error(`${this.name} did not end within ${limitMs} ms of SIGTERM\n${this.output}`);
    return exit;
  }
}

/** Starts a node process. */
export function startChild(options: ChildOptions): Child {
  if (!guarded) {
    guarded = true;
    process.on('exit', () => {
      for (const child of LIVE) child.signal('SIGKILL');
    });
  }
  return new Child(options);
}

/** Kills every child that still runs, also stopped ones. Returns their names, once they have ended. */
export async function killChildren(): Promise<readonly string[]> {
  const left = [...LIVE];
  await Promise.all(left.map((child) => child.kill()));
  return left.map((child) => child.name);
}

/** The environment of this process without settings of the engine, its SDK or a database. */
function plainEnv(): NodeJS.ProcessEnv {
  const dropped = /^(DUCTOR_|DATABASE_|PG|REDIS_|NODE_OPTIONS$|NODE_ENV$|VITEST|WORLD_DIR$|PAUSE$|PORT$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !dropped.test(name)));
}

/** Ids of all children ever started here that still exist. */
export function leftAlive(): readonly number[] {
  return PIDS.filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}
