/**
 * How fast one process decides: `npx tsx bench/routing.ts`.
 *
 * A preview asks 5 rules, filters 12 recipients and ranks them by one CEL score. "explained" also writes the record and
 * the explanation. tsx names every function as it is made, which costs a third here. As it is built it is measured by
 * `npx esbuild bench/routing.ts --bundle --platform=node --format=esm --packages=external --outfile=bench/r.mjs` and
 * `node bench/r.mjs`. The last lines: the same with 1,000 recipients, a choice of other strategies, and replay.
 */
import { createCelCompiler } from '../engine/src/expressions/index.js';
import { poolCheck, recipientCheck } from '../engine/src/pools/index.js';
import {
  checkRoutable,
  compilePool,
  compileRules,
  createRecordReader,
  decide,
  deriveSeed,
  documentsOf,
  explain,
  replay,
  ruleCheck,
  writeRecord,
  type DecisionInput,
  type PoolSnapshot,
  type RecipientFacts,
} from '../engine/src/routing/index.js';

const NOW_US = 1_783_766_700_000_000;
const ENGINE = { version: 'bench', tzdb: process.versions.tz ?? '' };
const compiler = createCelCompiler();
const KEY = new Uint8Array(32).fill(1);

function idOf(number: number): string {
  return `01890a5d-ac96-774b-bcce-${number.toString(16).padStart(12, '0')}`;
}

function poolOf(count: number, fields: object): PoolSnapshot {
  const recipients = Array.from({ length: count }, (_, index) => ({
    id: idOf(index + 1),
    version: 1,
    fields: recipientCheck.create({
      name: `Agent ${index}`,
      state: 'RECIPIENT_STATE_AVAILABLE',
      weight: 1 + (index % 4),
      capacity: { max_concurrent: 20 },
      tags: ['billing'],
      attributes: { seniority: { number_value: index % 7 }, skill: { string_value: 'billing' } },
    }),
  }));
  const facts = recipients.map(({ id }, index): [string, RecipientFacts] => [
    id,
    {
      held: index % 3,
      committed: index % 4,
      admittedToday: 5,
      committedToday: 3,
      lastAssignedUs: NOW_US - index * 1_000_003,
    },
  ]);
  const document = { fields: poolCheck(compiler).create({ name: 'billing-agents', ...fields }), isKilled: false };
  const view = compilePool({ id: idOf(500), version: 7, document }, recipients, compiler);
  return { view, facts: new Map(facts), state: {}, bindings: new Map() };
}

const SCORE = {
  strategy: 'score',
  config: {
    strategy_params: {
      expr: 'recipient.attributes.seniority * 2.0 + recipient.weight + routable.attributes.amount / 10000.0',
    },
  },
};

const RULES = compileRules(
  [
    'routable.type == "ticket"',
    'routable.channel == "chat" && routable.priority > 5',
    'routable.attributes.amount > 90000.0',
    '"vip" in routable.required_skills',
    'routable.type == "lead" && routable.attributes.amount >= 1000.0',
  ].map((expr, index) => ({
    id: idOf(900 + index),
    version: 1,
    fields: ruleCheck(compiler).create({ name: `rule-${index}`, priority: index, expr, pool_id: idOf(500) }),
  })),
  compiler,
);

const ROUTABLES = Array.from({ length: 64 }, (_, index) =>
  checkRoutable({
    id: `lead-${index}`,
    type: 'lead',
    attributes: { amount: 1000 + index * 997, state: 'TX' },
    priority: index % 9,
  }),
);

function inputOf(snapshot: PoolSnapshot, number: number): DecisionInput {
  const decisionId = idOf(1_000_000 + number);
  return {
    decisionId,
    nowUs: NOW_US + number,
    routable: ROUTABLES[number % ROUTABLES.length] ?? checkRoutable({}),
    rules: RULES,
    pools: new Map([[snapshot.view.id, snapshot]]),
    seedOf: (poolId, hop, attempt) => deriveSeed(KEY, { decisionId, poolId, hop, attempt }),
  };
}

/** CPU time of this process in ms: what other processes do beside it hardly shows. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Does it again and again for about so many ms of CPU time; answers how many in a second. */
function rate(name: string, act: (number: number) => unknown, forMs = 1500): number {
  let number = 0;
  for (const until = cpuMs() + forMs / 3; cpuMs() < until; number += 1) act(number);
  const [from, first] = [cpuMs(), number];
  const times: number[] = [];
  while (cpuMs() < from + forMs) {
    const started = process.hrtime.bigint();
    for (let each = 0; each < 100; each += 1) act(number + each);
    times.push(Number(process.hrtime.bigint() - started) / 100_000);
    number += 100;
  }
  const perSecond = ((number - first) * 1000) / (cpuMs() - from);
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
  console.log(`${name.padEnd(52)} ${Math.round(perSecond).toString().padStart(8)} /s   p99 ${p99.toFixed(0)} us`);
  return perSecond;
}

const twelve = poolOf(12, SCORE);
const thousand = poolOf(1000, SCORE);

/** Decides, writes the record, explains. */
function explained(snapshot: PoolSnapshot, number: number): number {
  const decision = decide(inputOf(snapshot, number));
  return writeRecord(decision, ENGINE).length + explain(decision).hops.length;
}

const plain = rate('preview, 12 recipients', (number) => decide(inputOf(twelve, number)));
const withRecord = rate('preview explained, 12 recipients', (number) => explained(twelve, number));
const large = rate('preview, 1,000 recipients', (number) => decide(inputOf(thousand, number)), 3000);
const largeExplained = rate('preview explained, 1,000 recipients', (number) => explained(thousand, number), 3000);
const [factor, factorExplained] = [plain / large, withRecord / largeExplained].map((each) => each.toFixed(1));
console.log(`1,000 recipients cost ${factor} times as much as 12, explained ${factorExplained} times; linear is 83.3`);

for (const fields of [
  { strategy: 'round_robin' },
  { strategy: 'smooth_weighted_round_robin' },
  { strategy: 'weighted_random' },
  { strategy: 'least_loaded' },
  { strategy: 'power_of_two_choices' },
  { strategy: 'consistent_hash', config: { strategy_params: { hash_key: 'routable.id' } } },
  { strategy: 'fair_share' },
]) {
  const snapshot = poolOf(12, fields);
  rate(`preview, 12 recipients, ${fields.strategy}`, (number) => decide(inputOf(snapshot, number)), 600);
}

const decision = decide(inputOf(twelve, 1));
const record = writeRecord(decision, ENGINE);
const documents = documentsOf(decision);
const reader = createRecordReader();
rate('replay, 12 recipients', () => replay(record, documents, reader), 600);
const long = writeRecord(decide(inputOf(thousand, 1)), ENGINE);
console.log(`record of 12 candidates: ${Buffer.byteLength(record)} bytes; of 1,000: ${Buffer.byteLength(long)}`);
