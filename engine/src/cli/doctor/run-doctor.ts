/** Looks at everything there is, says what is wrong, what it means and what to do. */
import { DuctorError } from '../../kernel/index.js';
import { openDatabase } from '../../store/index.js';
import { type Endpoint, findDatabase, findEndpoint } from '../connect/endpoint.js';
import { EngineClient } from '../connect/engine-client.js';
import type { CliContext } from '../context.js';
import { painter, type Tone } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { examineCapacity } from './capacity/examine-capacity.js';
import { examineDatabase } from './examine-database.js';
import { examineEngine } from './examine-engine.js';
import { fail, type Finding, type Level } from './finding.js';

/** Options of the command. */
export interface DoctorOptions {
  readonly json?: boolean;
  readonly dataDir?: string;
  /** Make a market, and try admission and drain in it. */
  readonly capacity?: boolean;
  /** How long somebody has to restart the engine meanwhile, ms. */
  readonly restartWithin?: number;
}

const TONES: Readonly<Record<Level, Tone>> = { OK: 'good', WARN: 'warning', FAIL: 'bad' };

/** The engine that is named; undefined when none is. */
function endpointOf({ env }: CliContext, dataDir: string | undefined): Endpoint | undefined {
  try {
    return findEndpoint(env, dataDir);
  } catch (error) {
    if (env['DUCTOR_ADDRESS'] !== undefined && env['DUCTOR_ADDRESS'] !== '') throw error;
    return undefined;
  }
}

async function databaseFindings({ clock }: CliContext, url: string): Promise<readonly Finding[]> {
  const db = openDatabase({ url, applicationName: 'ductor doctor', maxConnections: 2, tenantRole: null });
  try {
    return await examineDatabase(db, clock);
  } catch (caught) {
    const error = DuctorError.from(caught);
    if (error.code !== 'database_unavailable') throw error;
    return [fail('database.answers', error.message, 'Nothing can be committed.', error.remedy)];
  } finally {
    await db.close();
  }
}

async function capacityFindings({ clock, terminal }: CliContext, endpoint: Endpoint, withinMs: number | undefined) {
  const engine = new EngineClient(endpoint, clock);
  try {
    return await examineCapacity(engine, { withinMs, tell: (text) => terminal.err(text) });
  } finally {
    engine.close();
  }
}

async function engineFindings({ clock }: CliContext, endpoint: Endpoint): Promise<readonly Finding[]> {
  const engine = new EngineClient(endpoint, clock);
  try {
    return await examineEngine(engine);
  } finally {
    engine.close();
  }
}

function text(findings: readonly Finding[], { terminal }: CliContext): string {
  const paint = painter(terminal);
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(({ check, level, found, meaning, remedy }) => {
    const head = `${paint(TONES[level], level.padEnd(4))}  ${check.padEnd(width)}  ${oneLine(found)}\n`;
    if (level === 'OK') return head;
    const indent = ' '.repeat(width + 8);
    return `${head}${indent}${oneLine(meaning)}\n${indent}-> ${oneLine(remedy)}\n`;
  });
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  return `${lines.join('')}\n${count('OK')} OK, ${count('WARN')} WARN, ${count('FAIL')} FAIL\n`;
}

/** Runs the command. */
export async function runDoctor(context: CliContext, options: DoctorOptions): Promise<void> {
  const { json, dataDir } = options;
  const url = findDatabase(context.env, dataDir);
  const endpoint = endpointOf(context, dataDir);
  if (url === undefined && endpoint === undefined) {
    throw new DuctorError('invalid_argument', 'neither a database nor an engine is known', {
      remedy: 'Set DATABASE_URL, or DUCTOR_ADDRESS and DUCTOR_API_KEY, or start `ductor dev` in this folder.',
    });
  }
  const isActive = options.capacity === true || options.restartWithin !== undefined;
  if (isActive && endpoint === undefined) {
    throw new DuctorError('invalid_argument', 'capacity is examined through an engine, and none is known', {
      remedy: 'Set DUCTOR_ADDRESS and DUCTOR_API_KEY, or start `ductor dev` in this folder.',
    });
  }
  // First, so that what the database is asked then includes what this has left.
  const active = isActive && endpoint ? await capacityFindings(context, endpoint, options.restartWithin) : [];
  const ofDatabase = url === undefined ? [] : await databaseFindings(context, url);
  const ofEngine = endpoint === undefined ? [] : await engineFindings(context, endpoint);
  // The database knows the parked runs of all tenants, with their reasons.
  const passive = [...ofDatabase, ...ofEngine.filter(({ check }) => url === undefined || check !== 'runs.parked')];
  const findings = [...passive, ...active];
  if (findings.some(({ level }) => level === 'FAIL')) context.fail();
  const isFine = !findings.some(({ level }) => level === 'FAIL');
  const { terminal } = context;
  terminal.out(json === true ? `${JSON.stringify({ ok: isFine, findings }, null, 2)}\n` : text(findings, context));
}
