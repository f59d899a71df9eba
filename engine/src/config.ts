/**
 * Every setting of the engine, from the environment. One schema; docs/configuration.md is its table, and a test holds
 * the two together.
 */
import { z } from 'zod';
import type { TlsFiles } from './api/index.js';
import { egressPolicy } from './egress/index.js';
import { DuctorError, type Problem } from './kernel/index.js';

const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .default(false);
/** Networks, by commas, as a policy of egress. */
const networks = z
  .string()
  .default('')
  .transform((text, context) => {
    const policy = egressPolicy(text.split(',').flatMap((part) => part.trim() || []));
    if (!('invalid' in policy)) return policy;
    context.addIssue(`${policy.invalid.join(', ')}: no network`);
    return z.NEVER;
  });
const port = z.coerce.number().int().min(0).max(65_535);

/** The schema: name, default and meaning of each setting. */
const SETTINGS = z.object({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgresql://')
    .optional()
    .describe('PostgreSQL 15 or newer. `ductor dev` starts an embedded one when it is absent.'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
    .optional()
    .describe(
      'Redis, or what speaks its protocol, for hints between nodes; the same on all. Default: LISTEN and NOTIFY of ' +
        'the database. Losing it costs latency, nothing else.',
    ),
  DUCTOR_HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on; 0.0.0.0 for all.'),
  DUCTOR_PORT: port.default(7400).describe('Port to listen on; 0 for any free one.'),
  DUCTOR_ADVERTISE_ADDRESS: z
    .string()
    .regex(/^[^/\s]+:\d+$/, 'must be host:port')
    .optional()
    .describe('host:port at which workers and other nodes reach this node. Default: the address it listens on.'),
  DUCTOR_TLS_CERT: z
    .string()
    .optional()
    .describe(
      'PEM file with the certificate of this node: then its port speaks TLS only. Default: clear, for a proxy that ' +
        'ends TLS. Read again each minute.',
    ),
  DUCTOR_TLS_KEY: z.string().optional().describe('PEM file with the key of that certificate.'),
  DUCTOR_TLS_CLIENT_CA: z
    .string()
    .optional()
    .describe('PEM file with authorities: then only callers with a certificate of theirs are let in.'),
  DUCTOR_RELAY: z
    .enum(['auto', 'tls', 'clear', 'off'])
    .default('auto')
    .describe(
      'Whether nodes lend each other workers that cannot reach all of them, and how they connect for it: `tls`, ' +
        '`clear`, or as the own port speaks (`auto`). `off`: this node lends and borrows none.',
    ),
  DUCTOR_RELAY_CA: z
    .string()
    .optional()
    .describe(
      'PEM file with the authorities of the certificates of other nodes. Default: those that Node.js trusts. Where ' +
        'DUCTOR_TLS_CERT is set, nodes show it to each other.',
    ),
  DUCTOR_SECRET: z
    .string()
    .optional()
    .describe(
      '32 random bytes or more, the same on all nodes. "new,old" during a rotation. `ductor dev` keeps its own.',
    ),
  DUCTOR_DATA_DIR: z.string().min(1).default('.ductor').describe('Where `ductor dev` keeps database, key and secret.'),
  DUCTOR_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least level that is logged.'),
  DUCTOR_METRICS: z
    .enum(['loopback', 'all', 'off'])
    .default('loopback')
    .describe('Who may read /metrics: requests from this machine that no proxy passed on, everybody, nobody.'),
  DUCTOR_CALLS_PER_KEY: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(5_000)
    .describe('Calls a second that one key may make at one node, on average; twice as many at once.'),
  DUCTOR_ALLOW_UNSAFE_DATABASE: flag.describe(
    'true accepts fsync, synchronous_commit or full_page_writes off: a crash may then lose acknowledged work.',
  ),
  DUCTOR_EGRESS_ALLOW: networks.describe(
    'Networks ("127.0.0.1, 10.1.0.0/16") that the engine may call for users though not public, also without TLS. ' +
      '`ductor dev` allows this machine.',
  ),
  DUCTOR_LEASE_MS: z.coerce
    .number()
    .int()
    .min(2_000)
    .max(60_000)
    .default(5_000)
    .describe('How long a node that stopped answering keeps its shards, ms.'),
  DUCTOR_START_WAIT_MS: z.coerce
    .number()
    .int()
    .min(10)
    .max(60_000)
    .default(500)
    .describe(
      'How long starts may wait for their commit at most when a node is asked for more than it can do, ms; what ' +
        'would wait longer is refused. Twice what is usual at the node is less, mostly.',
    ),
});

/** Settings that may hold a password: never shown. */
const SECRETS: ReadonlySet<string> = new Set(['DUCTOR_SECRET', 'DATABASE_URL', 'REDIS_URL']);

/** Checked settings. */
export type Settings = z.output<typeof SETTINGS>;

/** A setting, for its table in the docs. */
export interface SettingText {
  readonly name: string;
  /** What it is when absent; empty: nothing. */
  readonly byDefault: string;
  readonly meaning: string;
}

/** Whether the value can stand in a table. */
function isPlain(value: unknown): boolean {
  return value !== undefined && typeof value !== 'object';
}

/** All settings, in the order of the schema. */
export function settingTexts(): readonly SettingText[] {
  return Object.entries(SETTINGS.shape).map(([name, schema]) => {
    const byDefault: unknown = schema.parse(undefined);
    return { name, byDefault: isPlain(byDefault) ? String(byDefault) : '', meaning: schema.description ?? '' };
  });
}

/**
 * Reads the settings. Throws invalid_argument with one detail per setting that is wrong.
 *
 * @param env the process's environment
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const given = Object.fromEntries(
    Object.keys(SETTINGS.shape).map((name) => [name, env[name] === '' ? undefined : env[name]]),
  );
  const parsed = SETTINGS.safeParse(given);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map((issue): Problem => {
    const name = String(issue.path[0]);
    const value = SECRETS.has(name) ? '[secret]' : String(env[name] ?? '').slice(0, 200);
    return { path: name, value, problem: issue.message, remedy: 'See docs/configuration.md.' };
  });
  const names = details.map((detail) => detail.path).join(', ');
  throw new DuctorError('invalid_argument', `settings that cannot be used: ${names}`, { details });
}

/** Files of TLS on the port; null: it speaks clear. Throws invalid_argument when only some of them are named. */
export function tlsFiles(settings: Settings): TlsFiles | null {
  const { DUCTOR_TLS_CERT: cert, DUCTOR_TLS_KEY: key, DUCTOR_TLS_CLIENT_CA: clientCa = null } = settings;
  if (cert !== undefined && key !== undefined) return { cert, key, clientCa };
  if (cert === undefined && key === undefined && clientCa === null) return null;
  const missing = [
    ...(cert === undefined ? ['DUCTOR_TLS_CERT'] : []),
    ...(key === undefined ? ['DUCTOR_TLS_KEY'] : []),
  ];
  const remedy = 'Name certificate and key, or none of the files of TLS.';
  const details = missing.map((path): Problem => ({ path, value: '', problem: 'is missing for TLS', remedy }));
  throw new DuctorError('invalid_argument', `settings that are missing for TLS: ${missing.join(', ')}`, { details });
}
