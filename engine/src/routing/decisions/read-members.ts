/** Recipients out of a record: as much of them as decided. */
import { RECIPIENT_STATES } from '../../pools/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import { wordsOf } from '../core/hash.js';
import type { Member } from '../pipeline/view.js';
import { readColumn, readNumbers, unpackIds } from './columns.js';
import { fieldOf, listOf, textOf, textsOf } from './json-reader.js';
import { withValueAt } from './paths.js';
import { FACT_KEYS, FACT_NAMES, isMoment } from './fact-names.js';

/** The value that writeValue wrote. */
function readValue(written: unknown): unknown {
  const int = fieldOf(written, '#');
  if (typeof int === 'string') return BigInt(int);
  const pairs = fieldOf(written, '{');
  if (!Array.isArray(pairs)) return written;
  return Object.fromEntries(pairs.map((pair: unknown) => [String(listOf(pair)[0]), readValue(listOf(pair)[1])]));
}

/** Scopes of all, from what was read of them. */
function readScopes(written: unknown, count: number): Member['scope'][] {
  const scopes: unknown[] = new Array<unknown>(count).fill({ attributes: {} });
  for (const entry of listOf(written)) {
    const [path, values] = listOf(entry);
    for (const [index, value] of listOf(values).entries()) {
      if (value !== null) scopes[index] = withValueAt(scopes[index], textsOf(path), readValue(value));
    }
  }
  return scopes.map((scope) => {
    const fields = typeof scope === 'object' && scope !== null ? Object.entries(scope) : [];
    const attributes: unknown = fieldOf(scope, 'attributes');
    const own = typeof attributes === 'object' && attributes !== null ? Object.entries(attributes) : [];
    return { ...Object.fromEntries(fields), attributes: Object.fromEntries(own) };
  });
}

function readSkills(written: unknown, count: number): ReadonlyMap<string, number>[] {
  const skills = Array.from({ length: count }, () => new Map<string, number>());
  for (const entry of listOf(written)) {
    const [name, levels] = listOf(entry);
    for (const [index, level] of readNumbers(levels, count, 0).entries()) {
      if (level !== undefined && level > 0) skills[index]?.set(String(name), level);
    }
  }
  return skills;
}

/** Facts of all. */
function readFacts(written: unknown, count: number, nowUs: number): RecipientFacts[] {
  const facts: RecipientFacts[] = Array.from({ length: count }, () => ({
    held: 0,
    committed: 0,
    admittedToday: 0,
    committedToday: 0,
  }));
  for (const name of FACT_KEYS) {
    for (const [index, value] of readColumn(fieldOf(written, FACT_NAMES[name]), count).entries()) {
      const before = facts[index];
      if (value === undefined || before === undefined) continue;
      const number = typeof value === 'number' && isMoment(name) ? nowUs - value : value;
      const buckets = name === 'responses' && typeof value === 'string' ? value.split(',').map(Number) : number;
      facts[index] = { ...before, [name]: buckets };
    }
  }
  return facts;
}

/** Recipients and their facts, in the order of the record. */
export interface ReadMembers {
  readonly members: readonly Member[];
  readonly facts: ReadonlyMap<string, RecipientFacts>;
}

/** Reads the recipients of a hop. Whether they were open is all that is known of their hours. */
export function readMembers(hop: unknown, nowUs: number): ReadMembers {
  const ids = unpackIds(textOf(fieldOf(hop, 'i')) ?? '');
  const numbers = (name: string, byDefault?: number) => readNumbers(fieldOf(hop, name), ids.length, byDefault);
  const scopes = readScopes(fieldOf(hop, 'q'), ids.length);
  const skills = readSkills(fieldOf(hop, 'k'), ids.length);
  const facts = readFacts(fieldOf(hop, 'f'), ids.length, nowUs);
  const columns = {
    version: numbers('r', 1),
    weight: numbers('w', 1000),
    tier: numbers('t', 0),
    order: numbers('o', 0),
    limit: numbers('m', 0),
    daily: numbers('l', 0),
    units: numbers('u', 1),
    state: numbers('s', 0),
    until: numbers('su'),
    cost: readColumn(fieldOf(hop, 'c'), ids.length),
    isActive: readColumn(fieldOf(hop, 'ia'), ids.length, true),
    isClosed: readColumn(fieldOf(hop, 'cl'), ids.length, false),
  };
  const members = ids.map((id, index): Member => {
    const [cost, until] = [columns.cost[index], columns.until[index]];
    return {
      id,
      version: columns.version[index] ?? 1,
      words: wordsOf(id),
      isActive: columns.isActive[index] === true,
      state: RECIPIENT_STATES[columns.state[index] ?? 0] ?? 'RECIPIENT_STATE_OFFLINE',
      stateUntilUs: until === undefined ? undefined : nowUs - until,
      weightMilli: columns.weight[index] ?? 0,
      tier: columns.tier[index] ?? 0,
      order: columns.order[index] ?? 0,
      costMicros: typeof cost === 'string' ? BigInt(cost) : undefined,
      maxConcurrent: columns.limit[index] ?? 0,
      dailyLimit: columns.daily[index] ?? 0,
      unitCosts: new Map([['default', columns.units[index] ?? 1]]),
      hours: columns.isClosed[index] === true ? { isShut: true, nextOpenUs: undefined } : undefined,
      skills: skills[index] ?? new Map(),
      scope: scopes[index] ?? { attributes: {} },
    };
  });
  return { members, facts: new Map(ids.map((id, index) => [id, facts[index] ?? EMPTY])) };
}

const EMPTY: RecipientFacts = { held: 0, committed: 0, admittedToday: 0, committedToday: 0 };
