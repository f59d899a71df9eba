/** `ductor start`: one node of a real deployment. */
import type { Settings } from '../config.js';
import { DuctorError, clusterSecret } from '../kernel/index.js';
import { createLog } from '../telemetry/index.js';
import { startEngine } from '../wire.js';
import { writeKept } from './kept-file.js';
import { untilSignal } from './until-signal.js';

/** Runs a node until it is told to stop. Throws invalid_argument naming the setting that is missing. */
export async function runStart(options: {
  readonly settings: Settings;
  readonly readyFile: string | undefined;
}): Promise<void> {
  const { settings, readyFile } = options;
  const { DATABASE_URL: url, DUCTOR_SECRET: secrets } = settings;
  if (url === undefined)
    throw missing('DATABASE_URL', 'Set it to a PostgreSQL 15 or newer, or run `ductor dev` for an embedded one.');
  if (secrets === undefined)
    throw missing('DUCTOR_SECRET', 'Set it to 32 random bytes or more, for example from `openssl rand -hex 32`.');
  const [current = '', previous] = secrets.split(',');
  const log = createLog({ level: settings.DUCTOR_LOG_LEVEL });
  const engine = await startEngine({ url, settings, secret: clusterSecret(current, previous), log });
  // Listened to before anybody is told that the engine is ready: a script may stop it the moment it reads so.
  const ended = untilSignal(engine, log);
  log.info({ address: engine.address }, 'engine ready');
  if (readyFile !== undefined) writeKept(readyFile, JSON.stringify({ address: engine.address }));
  await ended;
}

function missing(name: string, remedy: string): DuctorError {
  return new DuctorError('invalid_argument', `${name} is not set`, {
    remedy,
    details: [{ path: name, value: '', problem: 'is not set', remedy }],
  });
}
