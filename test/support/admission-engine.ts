/**
 * An engine of the test that kills them, as a process: takes over what the one of its name left open that was killed,
 * once the sessions of that one have ended, then does operations until it is told anything. Says when it begins, and
 * after each round what its operations came to so far.
 */
import { openDatabase, type Row } from '../../engine/src/store/index.js';
import { AdmissionWorld, type Tally } from './admission-world.js';
import { until } from './wait.js';

/** What it says. */
export interface EngineWord {
  /** Operations since it was started. */
  readonly operations: number;
  readonly tally: Omit<Tally, 'errors'>;
  /** What went wrong. */
  readonly errors: readonly string[];
}

const ROUND = 40;
/** Share of operations whose session is cut. */
const CUTS = 0.02;
/** Few open runs: so that engines meet at the same recipients, and find room sometimes. */
const PACE = { few: 12, slow: 0.02 };

const { ADMISSION_URL: url = '', ADMISSION_TENANT: tenantId = '', ADMISSION_ENGINE: name = '' } = process.env;
const [seed, sessions] = [Number(process.env['ADMISSION_SEED']), Number(process.env['ADMISSION_SESSIONS'])];
const own = `${name}/${process.pid}`;
const db = openDatabase({ url, applicationName: own, maxConnections: 4 });
const world = new AdmissionWorld(db, tenantId, {}, seed, PACE, name);
let operations = 0;
let isOver = false;
process.on('message', () => (isOver = true));

async function isAlone(): Promise<boolean> {
  const { rows } = await db.query<Row & { others: number }>(
    `select count(*)::integer as others from pg_stat_activity where datname = current_database()
      and application_name like $1 || '/%' and application_name not like $2 || '%'`,
    [name, own],
  );
  return rows[0]?.others === 0;
}

function say(): void {
  const { errors, ...tally } = world.tally;
  const word: EngineWord = { operations, tally: { ...tally }, errors: [...errors.keys()] };
  process.send?.(word);
}

await until('the sessions of the engine before to end', isAlone, { limitMs: 20_000, everyMs: 20 });
await world.adopt([name]);
say();
while (!isOver) {
  await world.work(sessions, ROUND, CUTS);
  operations += ROUND;
  say();
}
await world.leave();
await db.close();
process.exit(0);
