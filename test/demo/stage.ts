/** All the demo runs: engine with its database, the app's worker and the app's web side, each a process of its own. */
import { DuctorClient } from '@ductor/sdk';
import { type Child, killChildren } from '../support/child.js';
import { type Engine, discardEngines, startEngine } from '../support/engine.js';
import { dataFolder, scratchFolder } from '../support/scratch.js';
import { startUntilLine, startWorker } from '../support/worker.js';
import { type World, watchWorld } from './world.js';

/** The running demo. */
export class Stage {
  readonly engine: Engine;
  readonly world: World;
  readonly client: DuctorClient;
  readonly #app: string;
  #worker: Child | undefined;
  #api: Child | undefined;
  #apiAddress = '';

  private constructor(engine: Engine, app: string) {
    this.engine = engine;
    this.#app = app;
    this.world = watchWorld(scratchFolder('world'));
    this.client = new DuctorClient({ engine: engine.address, apiKey: engine.apiKey });
  }

  /** Starts an engine on a new data folder; the app is installed in its folder already. */
  static async open(app: string): Promise<Stage> {
    return new Stage(await startEngine({ dataDir: dataFolder('data') }), app);
  }

  /** http://host:port of the app's web side. */
  get apiAddress(): string {
    return this.#apiAddress;
  }

  get worker(): Child {
    if (this.#worker === undefined) throw new Error('the worker was never started');
    return this.#worker;
  }

  /** Starts a worker; resolves when the engine has welcomed it. */
  async startWorker(): Promise<void> {
    this.#worker = await startWorker({ name: 'worker', ...this.#appProcess('worker') });
  }

  /** Starts the web side on a free port. */
  async startApi(): Promise<void> {
    const said = 'leads at ';
    const onLine = (line: string): void => {
      if (line.startsWith(said)) this.#apiAddress = new URL(line.slice(said.length)).origin;
    };
    this.#api = await startUntilLine({ name: 'web side', ...this.#appProcess('api'), onLine }, said);
  }

  /** Ends everything as a deployment would, with SIGTERM. Throws when something does not end well. */
  async close(): Promise<void> {
    this.client.close();
    for (const child of [this.#api, this.#worker, this.engine.child]) {
      const exit = await child?.stop();
      if (exit !== undefined && exit.code !== 0)
        throw new Error(`${child?.name ?? ''} ended with ${exit.code ?? exit.signal}\n${child?.output ?? ''}`);
    }
  }

  #appProcess(role: string): { args: string[]; cwd: string; env: Record<string, string> } {
    const { address, apiKey } = this.engine;
    return {
      args: ['dist/main.js', role],
      cwd: this.#app,
      env: { DUCTOR_ADDRESS: address, DUCTOR_API_KEY: apiKey, WORLD_DIR: this.world.folder, PORT: '0', PAUSE: '1s' },
    };
  }
}

/** Ends whatever still runs, at once. */
export async function clearStage(): Promise<void> {
  await killChildren();
  await discardEngines();
}
