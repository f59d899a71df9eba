/** What a record says of everybody who was looked at in a pool: see write-record.ts for the short names. */
import type { RecipientFacts } from '../core/candidate.js';
import type { DecisionInput, Hop } from '../pipeline/decision.js';
import { NO_FACTS, type Looked } from '../pipeline/filter.js';
import { VERDICT_CODES } from '../pipeline/verdicts.js';
import type { PoolReads } from '../pipeline/view.js';
import { columnOf, type Column } from './columns.js';
import { FACT_KEYS, FACT_NAMES, isMoment } from './fact-names.js';
import { writeMembers, type WrittenMembers } from './write-members.js';

function writeFact(
  facts: RecipientFacts,
  name: keyof RecipientFacts,
  momentsBeforeUs: number | undefined,
): number | string | boolean | undefined {
  const value = facts[name];
  if (typeof value === 'number') return momentsBeforeUs === undefined ? value : momentsBeforeUs - value;
  return typeof value === 'object' ? value.join(',') : value;
}

/** Facts of all, column by column; those that nothing depends on are left out. */
function writeFacts(looked: readonly Looked[], reads: PoolReads, nowUs: number): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const name of FACT_KEYS) {
    if (!reads.facts.has(name)) continue;
    const value = NO_FACTS[name];
    const byDefault = typeof value === 'number' ? value : undefined;
    const beforeUs = isMoment(name) ? nowUs : undefined;
    written[FACT_NAMES[name]] = columnOf(looked, ({ facts }) => writeFact(facts, name, beforeUs), byDefault);
  }
  return written;
}

/** Skills that were asked for, by the work or by a strategy. */
function writeSkills(looked: readonly Looked[], reads: PoolReads, required: readonly string[]): unknown {
  if (required.length === 0 && reads.skills.length === 0) return undefined;
  const names = [...new Set([...required, ...reads.skills])].sort((a, b) => (a < b ? -1 : 1));
  return names.map((name) => [name, columnOf(looked, ({ member }) => member.skills.get(name) ?? 0, 0) ?? 0]);
}

/** Whom the decision was told of; nobody, mostly. */
function writeTold(looked: readonly Looked[], input: DecisionInput): Record<string, unknown> {
  const { pinned, excluded, conflicting } = input;
  const isIn = (ids: ReadonlySet<string> | undefined): Column | undefined =>
    ids === undefined || ids.size === 0 ? undefined : columnOf(looked, ({ member }) => ids.has(member.id), false);
  return {
    p: pinned === undefined || pinned.size === 0 ? undefined : columnOf(looked, ({ member }) => pinned.get(member.id)),
    x: isIn(excluded),
    c: isIn(conflicting),
  };
}

/** Places of those against whom something stands, each with what does. */
function writeVerdicts(looked: readonly Looked[]): readonly (readonly number[])[] | undefined {
  const failed: (readonly number[])[] = [];
  for (const [index, { verdicts }] of looked.entries()) {
    if (verdicts.length > 0) failed.push([index, ...verdicts.map(({ code }) => VERDICT_CODES.indexOf(code))]);
  }
  return failed.length === 0 ? undefined : failed;
}

function isClosed({ verdicts }: Looked): boolean {
  return verdicts.some(({ code }) => code === 'outside_schedule');
}

/** What was looked at, as it is written. */
export interface WrittenLooked {
  readonly members: WrittenMembers;
  /** Fields of the hop, in their order. */
  readonly fields: Record<string, unknown>;
}

/** Writes everybody who was looked at. */
export function writeLooked(looked: readonly Looked[], hop: Hop, input: DecisionInput): WrittenLooked {
  const { view } = hop.snapshot;
  const { nowUs } = input;
  const members = writeMembers(looked, view);
  // Written out in the order of the record: an object that is spread together here took as long as all columns.
  const fields = {
    i: members.packedIds,
    r: members.versions,
    w: members.weights,
    t: members.tiers,
    o: members.orders,
    c: members.costs,
    m: members.concurrencyLimits,
    l: members.dailyLimits,
    s: members.states,
    su: members.hasPassingStates
      ? columnOf(looked, ({ member: { stateUntilUs: until } }) => (until === undefined ? undefined : nowUs - until))
      : undefined,
    ia: members.active,
    u: columnOf(looked, ({ units }) => units, 1),
    cl: columnOf(looked, isClosed, false),
    f: writeFacts(looked, view.reads, nowUs),
    k: writeSkills(looked, view.reads, input.routable.requiredSkills),
    q: members.attributes,
    g: writeTold(looked, input),
    y: writeVerdicts(looked),
    py: hop.filtered?.isPanic === true ? true : undefined,
  };
  return { members, fields };
}
