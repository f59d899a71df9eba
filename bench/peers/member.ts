/**
 * A process that the bench started: an engine, a server, or one of its own that takes orders over IPC.
 *
 * States: RUNNING -> EXITED.
 * Invariants
 *   M1 an order is answered once: by its reply, or by an error when the process ends.
 *   M2 when the bench ends, every process it started is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { sleep } from './wait.js';
import { type Order, reply } from './messages.js';

/** What to start. */
export interface MemberOptions {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether it takes orders. */
  readonly ipc: boolean;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const OUTPUT_CHARS_MAX = 64 * 1024;
const LIVE = new Set<Member>();
process.on('exit', () => {
  for (const member of LIVE) member.signal('SIGKILL');
});

/** A process. */
export class Member {
  readonly name: string;
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #next = 0;
  #output = '';
  #isRunning = true;

  /** Starts it. */
  constructor({ name, command, args, env, cwd, ipc }: MemberOptions) {
    this.name = name;
    this.#process = spawn(command, [...args], {
      ...(cwd !== undefined && { cwd }),
      env: { ...plainEnvironment(), NODE_ENV: 'production', ...env },
      stdio: ipc ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
      serialization: 'advanced',
    });
    this.pid = this.#process.pid ?? 0;
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-OUTPUT_CHARS_MAX);
      });
    }
    this.exited = new Promise((resolve) => {
      this.#process.once('error', (error) => this.#ended(error.message, resolve));
      this.#process.once('close', (code, signal) => this.#ended(`it ended with ${signal ?? String(code)}`, resolve));
    });
    this.#process.on('message', (message) => this.#answered(message));
    LIVE.add(this);
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** The end of what it wrote. */
  get output(): string {
    return this.#output;
  }

  /** Gives an order; resolves with the answer. Throws what went wrong there, or that it ended. */
  ask(order: Order): Promise<unknown> {
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve, reject) => {
      if (!this.#isRunning) return reject(new Error(`${this.name} has ended\n${this.#output}`));
      this.#pending.set(id, { resolve, reject });
      this.#process.send({ id, order });
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#isRunning) this.#process.kill(signal);
  }

  /** SIGKILL; resolves when it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }

  /** SIGTERM, and SIGKILL when that takes too long. */
  async stop(limitMs = 10_000): Promise<void> {
    this.signal('SIGTERM');
    const isGone = await Promise.race([this.exited.then(() => true), sleep(limitMs).then(() => false)]);
    if (!isGone) await this.kill();
  }

  #answered(message: unknown): void {
    const { id, value, error } = reply.parse(message);
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new Error(`${this.name}: ${error}`));
  }

  #ended(why: string, resolve: () => void): void {
    this.#isRunning = false;
    LIVE.delete(this);
    for (const { reject } of this.#pending.values()) reject(new Error(`${this.name}: ${why}\n${this.#output}`));
    this.#pending.clear();
    resolve();
  }
}

/** The environment without settings of engines and databases: a process sees only those it is given. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const dropped = /^(DUCTOR_|DBOS_|RESTATE_|BENCH_|DATABASE_|PG|NODE_OPTIONS$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !dropped.test(name)));
}
