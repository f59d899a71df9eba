/** A Redis server of a test's own: the `redis-server` of this machine, on a free port, keeping nothing. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { DuctorError } from '../../kernel/index.js';

const START_MS = 15_000;

/**
 * Whether this machine has Redis. Where DUCTOR_TEST_REDIS is "required" the answer is yes, so that tests fail instead
 * of being left out.
 */
export const hasRedis: boolean =
  process.env['DUCTOR_TEST_REDIS'] === 'required' || spawnSync('redis-server', ['--version']).status === 0;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** A server that can be stopped and started again at the same address. */
export class TestRedis {
  #process: ChildProcess | undefined;

  private constructor(readonly port: number) {}

  /** Starts one. Throws unavailable when it does not answer in time. */
  static async start(): Promise<TestRedis> {
    const server = new TestRedis(await freePort());
    await server.restart();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async restart(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#process = spawn('redis-server', options, { stdio: 'ignore' });
    this.#process.on('error', () => undefined);
    const untilMs = performance.now() + START_MS;
    while (!(await answers(this.port))) {
      if (performance.now() > untilMs) throw new DuctorError('internal', 'redis-server did not start');
      await pause(10);
    }
  }

  /** Ends it at once, or lets it stand still: then its sockets stay open and it answers nothing. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
