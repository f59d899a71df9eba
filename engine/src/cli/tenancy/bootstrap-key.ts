/** The first operator key of a new database, made by whoever holds DATABASE_URL and DUCTOR_SECRET; no engine runs. */
import { readSettings } from '../../config.js';
import { clusterSecret, DuctorError, systemRandom } from '../../kernel/index.js';
import { readyDatabase } from '../../ready-database.js';
import { createLog } from '../../telemetry/index.js';
import { createTenancy } from '../../tenancy/index.js';
import type { CliContext, ClientOptions } from '../context.js';
import { printKey } from './show-key.js';

/** What is made. */
export interface FirstKey {
  /** Tenant of the key. */
  readonly slug: string;
  readonly name: string;
}

function needed(name: string, value: string | undefined, remedy: string): string {
  if (value !== undefined) return value;
  const details = [{ path: name, value: '', problem: 'is not set', remedy }];
  throw new DuctorError('invalid_argument', `${name} is not set`, { details, remedy });
}

/** Runs the command; migrates the database first where that is due. Throws operator_exists. */
export async function bootstrapKey(
  { env, terminal, clock }: CliContext,
  { slug, name }: FirstKey,
  { json }: ClientOptions,
): Promise<void> {
  const settings = readSettings(env);
  const url = needed('DATABASE_URL', settings.DATABASE_URL, 'Set it to the database of the engines.');
  const secrets = needed(
    'DUCTOR_SECRET',
    settings.DUCTOR_SECRET,
    'Set it to what the engines have: keys depend on it.',
  );
  const [current = '', previous] = secrets.split(',');
  const log = createLog({ level: 'error', write: (line) => terminal.err(line) });
  const db = await readyDatabase({ url, allowUnsafe: settings.DUCTOR_ALLOW_UNSAFE_DATABASE, log });
  try {
    const secret = clusterSecret(current, previous);
    const tenancy = createTenancy({ db, clock, random: systemRandom(), secret });
    const { record, apiKey } = await tenancy.bootstrap(slug, name);
    if (json === true) {
      const key = { id: record.id, name: record.name, scopes: record.scopes };
      terminal.out(`${JSON.stringify({ tenant: slug, key, secret: apiKey })}\n`);
    } else printKey(terminal, record, apiKey);
  } finally {
    await db.close();
  }
}
