/** `ductor dev`: an engine that needs nothing but Node, and keeps its data. */
import { join, resolve } from 'node:path';
import type { Settings } from '../config.js';
import { clusterSecret, systemClock, systemRandom } from '../kernel/index.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../store/index.js';
import { createLog } from '../telemetry/index.js';
import { startEngine } from '../wire.js';
import { readKept, writeKept } from './kept-file.js';
import { nextSteps } from './next-steps.js';
import { untilSignal } from './until-signal.js';

/** Runs a development engine until it is told to stop. */
export async function runDev(options: {
  readonly settings: Settings;
  readonly readyFile: string | undefined;
}): Promise<void> {
  const { settings, readyFile } = options;
  const clock = systemClock();
  const startedMs = clock.monotonicMs();
  const dataDir = resolve(settings.DUCTOR_DATA_DIR);
  const log = createLog({ level: settings.DUCTOR_LOG_LEVEL === 'info' ? 'warn' : settings.DUCTOR_LOG_LEVEL });
  const embedded = settings.DATABASE_URL === undefined ? await startEmbedded(dataDir) : undefined;
  const url = embedded?.url ?? settings.DATABASE_URL ?? '';
  const engine = await startEngine({ url, settings, secret: clusterSecret(keptSecret(dataDir, settings)), log });
  const keyFile = join(dataDir, 'api-key');
  const { tenantId, apiKey } = await engine.tenancy.ensureDevelopmentTenant(readKept(keyFile));
  writeKept(keyFile, apiKey);
  if (readyFile !== undefined)
    writeKept(readyFile, JSON.stringify({ address: engine.address, api_key: apiKey, tenant: tenantId }));
  process.stdout.write(
    nextSteps({ address: engine.address, apiKey, dataDir, readyMs: clock.monotonicMs() - startedMs }),
  );
  try {
    await untilSignal(engine, log);
  } finally {
    await embedded?.stop();
  }
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
