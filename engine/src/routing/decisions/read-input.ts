/** What a decision was made from, out of its record and the documents that it names. */
import { createCelCompiler, type CelCompiler } from '../../expressions/index.js';
import { canonicalJson, DuctorError } from '../../kernel/index.js';
import { poolCheck } from '../../pools/index.js';
import type { Answer, Answers } from '../core/answer.js';
import type { Binding } from '../core/candidate.js';
import type { Routable } from '../core/routable.js';
import { seedOf, type Seed } from '../core/stream.js';
import { admissionOf, type Admission, type Admit } from '../pipeline/admission.js';
import type { DecisionInput, PoolSnapshot } from '../pipeline/decision.js';
import { digestText } from '../pipeline/digest-text.js';
import { poolView, withMembers, type PoolDocument, type PoolView } from '../pipeline/view.js';
import { compileRules, ruleCheck, type CompiledRule } from '../rules/rule.js';
import { readNumbers } from './columns.js';
import { fieldOf, listOf, numberOf, recordOf, textOf, textsOf } from './json-reader.js';
import { readMembers } from './read-members.js';
import { RECORD_SCHEMA } from './write-record.js';
import { readState } from './written-state.js';

/** Documents by digest. */
export type Documents = ReadonlyMap<string, unknown>;

/** Compiles documents, each once; replaying many records of a few pools costs little more than deciding. */
export interface RecordReader {
  readonly compiler: CelCompiler;
  /** Without members. */
  readonly pools: Map<string, PoolView>;
  readonly rules: Map<string, CompiledRule>;
}

/** A reader for records of a tenant. */
export function createRecordReader(): RecordReader {
  return { compiler: createCelCompiler(), pools: new Map(), rules: new Map() };
}

function refuse(problem: string): never {
  throw new DuctorError('invalid_argument', `the record cannot be replayed: ${problem}`, {
    remedy: 'Export it anew, with the documents that it names.',
  });
}

/** A document, if it is what its digest says. */
function documentOf(documents: Documents, digest: string): unknown {
  const document = documents.get(digest);
  if (document === undefined) return refuse(`the document ${digest} is missing`);
  if (digestText(canonicalJson(document)) !== digest) return refuse(`the document ${digest} was changed`);
  return document;
}

function readPool(reader: RecordReader, documents: Documents, digest: string): PoolView {
  const known = reader.pools.get(digest);
  if (known !== undefined) return known;
  const document = documentOf(documents, digest);
  const fields = poolCheck(reader.compiler).create(fieldOf(document, 'fields'));
  const read: PoolDocument = { fields, isKilled: fieldOf(document, 'isKilled') === true };
  const view = poolView({ id: '', version: 0, document: read }, [], reader.compiler);
  reader.pools.set(digest, view);
  return view;
}

function readRule(reader: RecordReader, documents: Documents, digest: string): CompiledRule {
  const known = reader.rules.get(digest);
  if (known !== undefined) return known;
  const document = documentOf(documents, digest);
  const fields = ruleCheck(reader.compiler).create(fieldOf(document, 'fields'));
  const stored = {
    id: textOf(fieldOf(document, 'id')) ?? '',
    version: numberOf(fieldOf(document, 'version')) ?? 0,
    fields,
  };
  const [rule] = compileRules([stored], reader.compiler);
  if (rule === undefined) return refuse(`the rule ${digest} does not compile`);
  reader.rules.set(digest, rule);
  return rule;
}

function readRoutable(written: unknown): Routable {
  return {
    id: textOf(fieldOf(written, 'id')) ?? '',
    type: textOf(fieldOf(written, 'type')) ?? '',
    attributes: recordOf(fieldOf(written, 'at')),
    priority: numberOf(fieldOf(written, 'pr')) ?? 0,
    channel: textOf(fieldOf(written, 'ch')) ?? '',
    requiredSkills: textsOf(fieldOf(written, 'sk')),
    dedupeKey: textOf(fieldOf(written, 'dk')) ?? '',
    expiresUs: numberOf(fieldOf(written, 'ex')),
    receivedUs: numberOf(fieldOf(written, 'rc')),
  };
}

/** A hop as it was read. */
interface ReadHop {
  readonly snapshot: PoolSnapshot;
  readonly ids: readonly string[];
  readonly written: unknown;
}

function readBindings(written: unknown, ids: readonly string[]): ReadonlyMap<string, Binding> {
  return new Map(
    listOf(written).map((entry): [string, Binding] => {
      const [key, place, expiresUs, tier] = listOf(entry);
      const recipientId = typeof place === 'number' ? ids[place] : place;
      const binding = { recipientId: String(recipientId), expiresUs: numberOf(expiresUs) ?? 0 };
      return [String(key), typeof tier === 'number' ? { ...binding, tier } : binding];
    }),
  );
}

function readAnswers(written: unknown, ids: readonly string[]): Answers {
  return new Map(
    listOf(written).map((entry): [string, Answer] => {
      const [key, named, note] = listOf(entry);
      const idOf = (place: unknown): string => String(typeof place === 'number' ? ids[place] : place);
      return [String(key), { ids: Array.isArray(named) ? named.map(idOf) : undefined, note: textOf(note) ?? '' }];
    }),
  );
}

function readHop(reader: RecordReader, documents: Documents, record: unknown, written: unknown): ReadHop {
  const nowUs = numberOf(fieldOf(record, 'at')) ?? 0;
  const view = readPool(reader, documents, textOf(fieldOf(written, 'd')) ?? '');
  const { members, facts } = readMembers(written, nowUs);
  const ids = members.map(({ id }) => id);
  const standby = numberOf(fieldOf(written, 'sb'));
  const isStandby = (_member: unknown, place: number): boolean => place === standby;
  const own = members.filter((member, place) => !isStandby(member, place));
  const isShut = fieldOf(written, 'why') === 'pool_closed';
  const snapshot: PoolSnapshot = {
    view: {
      ...withMembers(view, own, members.filter(isStandby)),
      id: textOf(fieldOf(written, 'p')) ?? '',
      version: numberOf(fieldOf(written, 'v')) ?? 0,
      // Whether the pool was open stands in the record: zone data of another runtime must not decide anew.
      hours: isShut ? { isShut: true, nextOpenUs: numberOf(fieldOf(record, 'retry')) } : undefined,
    },
    facts,
    dueUs: fieldOf(written, 'due') === null ? null : numberOf(fieldOf(written, 'due')),
    state: readState(fieldOf(written, 'z'), ids),
    bindings: readBindings(fieldOf(written, 'b'), ids),
    answers: readAnswers(fieldOf(written, 'j'), ids),
    queued: numberOf(fieldOf(written, 'wq')),
  };
  return { snapshot, ids, written };
}

/** Admission out of the record: its numbers are given, what follows from them is worked out again. */
function readAdmission(written: unknown, ids: readonly string[]): Admission | undefined {
  const [kind, usage] = listOf(written);
  if (kind === undefined) return undefined;
  if (kind === 'u') return { kind: 'unavailable' };
  return admissionOf(
    listOf(usage).map((entry) => {
      const [place, units, used, limit, usedToday, dailyLimit] = listOf(entry);
      const number = (value: unknown): number => numberOf(value) ?? 0;
      return {
        id: typeof place === 'number' ? (ids[place] ?? '') : String(place),
        units: number(units),
        used: number(used),
        limit: number(limit),
        usedToday: number(usedToday),
        dailyLimit: number(dailyLimit),
      };
    }),
  );
}

/** Answers in the order in which they were given. */
function readAdmit(hops: readonly ReadHop[], isPreview: boolean): Admit | undefined {
  if (isPreview) return undefined;
  const admissions = hops.flatMap(({ written, ids }) =>
    listOf(fieldOf(written, 'n')).flatMap((attempt) => readAdmission(fieldOf(attempt, 'a'), ids) ?? []),
  );
  return () => admissions.shift() ?? refuse('it asks for an admission that it does not hold');
}

function readSeeds(hops: readonly ReadHop[]): DecisionInput['seedOf'] {
  const seeds = new Map<string, Seed>();
  for (const [hop, { written }] of hops.entries()) {
    for (const [attempt, entry] of listOf(fieldOf(written, 'n')).entries()) {
      const seed = textOf(fieldOf(entry, 's'));
      if (seed !== undefined) seeds.set(`${hop}/${attempt}`, seedOf(seed));
    }
  }
  return (_, hop, attempt) => seeds.get(`${hop}/${attempt}`) ?? refuse(`it holds no seed for attempt ${attempt}`);
}

/** Ids whose column says true. */
function idsWhere(hops: readonly ReadHop[], name: string): ReadonlySet<string> {
  return new Set(
    hops.flatMap(({ written, ids }) => {
      const values = fieldOf(fieldOf(written, 'g'), name);
      return ids.filter((_, index) => (Array.isArray(values) ? values[index] : values) === true);
    }),
  );
}

function readPinned(hops: readonly ReadHop[]): ReadonlyMap<string, number> {
  const pinned = new Map<string, number>();
  for (const { written, ids } of hops) {
    const values = readNumbers(fieldOf(fieldOf(written, 'g'), 'p'), ids.length);
    for (const [index, value] of values.entries()) if (value !== undefined) pinned.set(ids[index] ?? '', value);
  }
  return pinned;
}

function readHolds(written: unknown): DecisionInput['holds'] {
  const [slateSize, atLeast] = listOf(written).map(numberOf);
  return atLeast === undefined ? undefined : { slateSize: slateSize === 0 ? undefined : slateSize, atLeast };
}

function readWaited(written: unknown): DecisionInput['waited'] {
  const [firstId, sinceUs, queueOf] = listOf(written);
  if (typeof firstId !== 'string') return undefined;
  const since = { firstId, sinceUs: numberOf(sinceUs) ?? 0 };
  return typeof queueOf === 'string' ? { ...since, queueOf } : since;
}

/** The pools. One that was gone through twice, for the recipient it falls back to, has one deadline. */
function poolsOf(hops: readonly ReadHop[]): ReadonlyMap<string, PoolSnapshot> {
  const pools = new Map<string, PoolSnapshot>();
  for (const { snapshot } of hops) {
    const before = pools.get(snapshot.view.id);
    pools.set(snapshot.view.id, before?.dueUs === undefined ? snapshot : { ...snapshot, dueUs: before.dueUs });
  }
  return pools;
}

/** A record as it was read. */
export interface ReadRecord {
  readonly input: DecisionInput;
  readonly engine: { readonly version: string; readonly tzdb: string };
}

function parse(text: string): unknown {
  try {
    const record: unknown = JSON.parse(text);
    if (fieldOf(record, 'schema') === RECORD_SCHEMA) return record;
  } catch {
    return refuse('it is no JSON');
  }
  return refuse(`it is not of the form ${RECORD_SCHEMA}`);
}

/**
 * Reads a record.
 * @throws DuctorError `invalid_argument` when it is no record, or a document that it names is missing or was changed
 */
export function readRecord(text: string, documents: Documents, reader: RecordReader): ReadRecord {
  const record = parse(text);
  const nowUs = numberOf(fieldOf(record, 'at')) ?? 0;
  const hops = listOf(fieldOf(record, 'hops')).map((hop) => readHop(reader, documents, record, hop));
  const given = fieldOf(record, 'given');
  const rules = listOf(fieldOf(record, 'rules')).map((entry) => readRule(reader, documents, String(listOf(entry)[0])));
  const engine = fieldOf(record, 'engine');
  const input: DecisionInput = {
    decisionId: textOf(fieldOf(record, 'id')) ?? '',
    nowUs,
    routable: readRoutable(fieldOf(record, 'routable')),
    poolId: textOf(fieldOf(given, 'pool')),
    family: textOf(fieldOf(given, 'family')),
    recipientId: textOf(fieldOf(given, 'recipient')),
    rules,
    pools: poolsOf(hops),
    seedOf: readSeeds(hops),
    admit: readAdmit(hops, fieldOf(given, 'preview') === true),
    duplicateOf: textOf(fieldOf(given, 'duplicate')),
    spentUs: numberOf(fieldOf(given, 'spent')) ?? 0,
    tried: numberOf(fieldOf(given, 'tried')) ?? 0,
    offers: numberOf(fieldOf(given, 'offers')) ?? 0,
    pinned: readPinned(hops),
    holds: readHolds(fieldOf(given, 'holds')),
    excluded: idsWhere(hops, 'x'),
    conflicting: idsWhere(hops, 'c'),
    previous: textsOf(fieldOf(given, 'previous')),
    expiredIn: textsOf(fieldOf(given, 'expired')),
    isBreached: fieldOf(given, 'breached') === true,
    waited: readWaited(fieldOf(given, 'waited')),
  };
  return {
    input,
    engine: { version: textOf(fieldOf(engine, 'version')) ?? '', tzdb: textOf(fieldOf(engine, 'tzdb')) ?? '' },
  };
}
