import type { StrategyQuestion as WireQuestion, StrategyCandidate } from '../../gen/ductor/v1/strategy.js';
import type { StrategyQuestion } from '../../routing/index.js';

/** A value of an attribute as JSON has it: whole numbers of CEL become numbers. */
function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function plainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
}

function timeOf(us: number | undefined): { readonly seconds: bigint; readonly nanos: number } | undefined {
  if (us === undefined) return undefined;
  const seconds = Math.floor(us / 1_000_000);
  return { seconds: BigInt(seconds), nanos: Math.round(us - seconds * 1_000_000) * 1_000 };
}

type Given = StrategyQuestion['candidates'][number];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function candidateToWire({ candidate, member: { scope } }: Given): StrategyCandidate {
  const { facts } = candidate;
  return {
    id: candidate.id,
    name: textOf(scope['name']),
    externalId: textOf(scope['external_id']),
    type: textOf(scope['type']),
    tags: textsOf(scope['tags']),
    attributes: plainFields(scope.attributes),
    weight: candidate.weightMilli / 1_000,
    tier: candidate.tier,
    order: candidate.order,
    load: candidate.load,
    limit: candidate.cap ?? 0,
    costMicros: candidate.costMicros,
    lastAssignedAt: timeOf(facts.lastAssignedUs),
    latencyMs: facts.latencyUs === undefined ? undefined : facts.latencyUs / 1_000,
  };
}

/**
 * A question as it travels.
 *
 * @param version that the app said
 */
export function questionToWire(
  question: StrategyQuestion,
  questionId: bigint,
  version: string,
  timeoutMs: number,
): WireQuestion {
  const { name, decisionId, poolId, poolName, ask, candidates } = question;
  const { id, type, attributes, priority, channel, requiredSkills, receivedUs } = ask.routable;
  return {
    ...{ questionId, name, version, timeoutMs, decisionId, poolId, poolName },
    work: {
      ...{ id, type, priority, channel, attributes: plainFields(attributes) },
      requiredSkills: [...requiredSkills],
      receivedAt: timeOf(receivedUs),
      previousRecipientIds: [...ask.previous],
    },
    candidates: candidates.map(candidateToWire),
  };
}
