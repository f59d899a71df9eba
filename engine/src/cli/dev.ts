/** `ductor dev`: an engine that needs nothing but Node, and keeps its data. */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settings } from '../config.js';
import { clusterSecret, systemClock, systemRandom } from '../kernel/index.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../store/index.js';
import { createLog } from '../telemetry/index.js';
import { startEngine } from '../wire.js';
import { READY_FILE } from './connect/endpoint.js';
import { readKept, writeKept } from './kept-file.js';
import { nextSteps } from './next-steps.js';
import type { Terminal } from './output/terminal.js';
import { untilSignal } from './until-signal.js';

/** Address and key as node --env-file reads them. */
const ENV_FILE = 'env';

/** How a development engine is run. */
export interface DevOptions {
  readonly settings: Settings;
  /** Where to write address, key and tenant once the engine is ready, beside the data folder's own ready.json. */
  readonly readyFile: string | undefined;
  readonly terminal: Terminal;
}

/** Runs a development engine until it is told to stop. */
export async function runDev(options: DevOptions): Promise<void> {
  const { settings, readyFile } = options;
  const dataDir = resolve(settings.DUCTOR_DATA_DIR);
  // A file of an earlier start would tell a waiting script that this one is ready. The data folder's own file stays: a
  // start that fails because another engine has the port must not make that one unknown.
  if (readyFile !== undefined) rmSync(readyFile, { force: true });
  const embedded = settings.DATABASE_URL === undefined ? await startEmbedded(dataDir) : undefined;
  try {
    await serveUntilSignal(options, dataDir, embedded?.url ?? settings.DATABASE_URL ?? '');
  } finally {
    await embedded?.stop();
  }
}

/** Serves, and says in the data folder and in the file that was asked for how the engine is reached. */
async function serveUntilSignal(
  { settings, readyFile, terminal }: DevOptions,
  dataDir: string,
  url: string,
): Promise<void> {
  const log = createLog({ level: settings.DUCTOR_LOG_LEVEL === 'info' ? 'warn' : settings.DUCTOR_LOG_LEVEL });
  const engine = await startEngine({ url, settings, secret: clusterSecret(keptSecret(dataDir, settings)), log });
  // Listened to before anybody is told that the engine is ready: a script may stop it the moment it reads so.
  const ended = untilSignal(engine, log);
  const keyFile = join(dataDir, 'api-key');
  const { tenantId, apiKey } = await engine.tenancy.ensureDevelopmentTenant(readKept(keyFile));
  writeKept(keyFile, apiKey);
  const ready = { address: engine.address, api_key: apiKey, tenant: tenantId };
  writeKept(join(dataDir, READY_FILE), JSON.stringify({ ...ready, database_url: url, pid: process.pid }));
  writeKept(join(dataDir, ENV_FILE), `DUCTOR_ADDRESS=${engine.address}\nDUCTOR_API_KEY=${apiKey}\n`);
  if (readyFile !== undefined) writeKept(readyFile, JSON.stringify(ready));
  const readyMs = systemClock().monotonicMs();
  const facts = { address: engine.address, apiKey, dataDir, readyMs, pid: process.pid };
  terminal.out(nextSteps(facts, process.cwd()));
  await ended;
  rmSync(join(dataDir, READY_FILE), { force: true });
}

async function startEmbedded(dataDir: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
}

/** The secret of the settings, else the one kept in the data folder, else a new one that is kept there. */
function keptSecret(dataDir: string, settings: Settings): string {
  const given = settings.DUCTOR_SECRET?.split(',')[0];
  if (given !== undefined) return given;
  const file = join(dataDir, 'secret');
  const kept = readKept(file);
  if (kept !== null) return kept;
  const fresh = Buffer.from(systemRandom().bytes(32)).toString('hex');
  writeKept(file, fresh);
  return fresh;
}
