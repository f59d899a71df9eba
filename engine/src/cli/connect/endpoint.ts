/** Where the engine is and with which key it is asked. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { DuctorError } from '../../kernel/index.js';
import { readKept } from '../kept-file.js';

type Env = Readonly<Record<string, string | undefined>>;

/** An engine that can be called. */
export interface Endpoint {
  /** host:port. */
  readonly address: string;
  readonly isSecure: boolean;
  readonly apiKey: string;
  /** Where address and key come from, for messages: "DUCTOR_ADDRESS", or a file. */
  readonly source: string;
}

/** Name of the file in which `ductor dev` says how it is reached. */
export const READY_FILE = 'ready.json';

const READY = z.looseObject({
  address: z.string(),
  api_key: z.string().optional(),
  database_url: z.string().optional(),
});
const HOW = 'Start `ductor dev` in this folder, or set DUCTOR_ADDRESS and DUCTOR_API_KEY.';

interface Ready {
  readonly address: string;
  readonly apiKey: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly file: string;
}

/** What a development engine wrote into its data folder; null when there is no such file, or it says nothing. */
function readReady(dataDir: string): Ready | null {
  const file = join(resolve(dataDir), READY_FILE);
  const text = readKept(file);
  if (text === null) return null;
  try {
    const { address, api_key: apiKey, database_url: databaseUrl } = READY.parse(JSON.parse(text));
    return { address, apiKey, databaseUrl, file };
  } catch (cause) {
    throw new DuctorError('invalid_argument', `${file} does not say how the engine is reached`, {
      remedy: 'Delete it and start `ductor dev` again.',
      cause,
    });
  }
}

function parseAddress(text: string): { readonly address: string; readonly isSecure: boolean } {
  const match = /^(?:(https?):\/\/)?([^/\s:@]+|\[[0-9a-fA-F:]+\]):(\d{1,5})\/?$/.exec(text.trim());
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) {
    const problem = 'is not host:port';
    const remedy = 'Write it as 127.0.0.1:7400, http://host:7400 or https://host:7400.';
    throw new DuctorError('invalid_argument', `DUCTOR_ADDRESS ${problem}`, {
      remedy,
      details: [{ path: 'DUCTOR_ADDRESS', value: text.slice(0, 200), problem, remedy }],
    });
  }
  return { address: `${match[2] ?? ''}:${port}`, isSecure: match[1] === 'https' };
}

/** The data folder of `ductor dev`: as given, else DUCTOR_DATA_DIR, else .ductor. */
function dataFolder(env: Env, dataDir: string | undefined): string {
  return dataDir ?? nonEmpty(env['DUCTOR_DATA_DIR']) ?? '.ductor';
}

/**
 * Connection string of DATABASE_URL, else of the database that a development engine holds; undefined when none is
 * known. An engine named by DUCTOR_ADDRESS may have another database than the one that happens to be here.
 */
export function findDatabase(env: Env, dataDir?: string): string | undefined {
  const given = nonEmpty(env['DATABASE_URL']);
  if (given !== undefined) return given;
  const ready = readReady(dataFolder(env, dataDir));
  const named = nonEmpty(env['DUCTOR_ADDRESS'])?.split(',')[0];
  if (ready === null || (named !== undefined && parseAddress(named).address !== ready.address)) return undefined;
  return ready.databaseUrl;
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/**
 * DUCTOR_ADDRESS (its first address) and DUCTOR_API_KEY; what is not set is taken from the development engine of the
 * data folder. Its key goes to no other address than its own.
 *
 * @param dataDir folder of `ductor dev`; default: DUCTOR_DATA_DIR, else .ductor
 * @throws invalid_argument naming what is missing, and what to do
 */
export function findEndpoint(env: Env, dataDir?: string): Endpoint {
  const given = nonEmpty(env['DUCTOR_ADDRESS'])?.split(',')[0];
  const key = nonEmpty(env['DUCTOR_API_KEY']);
  if (given !== undefined && key !== undefined) {
    return { ...parseAddress(given), apiKey: key, source: 'DUCTOR_ADDRESS' };
  }
  const ready = readReady(dataFolder(env, dataDir));
  if (ready === null) {
    const missing = given === undefined ? 'no engine is known' : 'DUCTOR_API_KEY is not set';
    throw new DuctorError('invalid_argument', missing, { remedy: HOW });
  }
  if (given !== undefined && parseAddress(given).address !== ready.address) {
    const message = `DUCTOR_API_KEY is not set, and ${ready.file} is of another engine than DUCTOR_ADDRESS names`;
    throw new DuctorError('invalid_argument', message, { remedy: 'Set DUCTOR_API_KEY.' });
  }
  const apiKey = key ?? ready.apiKey;
  if (apiKey === undefined) throw new DuctorError('invalid_argument', `${ready.file} holds no key`, { remedy: HOW });
  return { address: ready.address, isSecure: false, apiKey, source: ready.file };
}
