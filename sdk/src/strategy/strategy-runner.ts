/** Answers the engine's questions to the strategies of an app. */
import type {
  StrategyAnswer,
  StrategyCandidate as WireCandidate,
  StrategyQuestion,
  StrategyRegistration,
} from '../gen/ductor/v1/strategy.js';
import type { System } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import type { LogSink } from '../worker/log.js';
import type { AppStrategy, RoutedWork, StrategyCandidate, StrategyChoice, StrategyPick } from './define-strategy.js';

const PROBLEM_CHARS_MAX = 200;

type WireTime = { readonly seconds: bigint; readonly nanos: number } | undefined;

function dateOf(time: WireTime): Date | undefined {
  return time === undefined ? undefined : new Date(Number(time.seconds) * 1_000 + time.nanos / 1_000_000);
}

function candidateOf({ attributes, limit, lastAssignedAt, ...rest }: WireCandidate): StrategyCandidate {
  return {
    ...rest,
    attributes: attributes ?? {},
    limit: limit === 0 ? undefined : limit,
    costMicros: rest.costMicros,
    latencyMs: rest.latencyMs,
    lastAssignedAt: dateOf(lastAssignedAt),
  };
}

function workOf({ work }: StrategyQuestion): RoutedWork {
  const { id = '', type = '', priority = 0, channel = '', requiredSkills = [], previousRecipientIds = [] } = work ?? {};
  return {
    ...{ id, type, priority, channel, requiredSkills, previousRecipientIds },
    attributes: work?.attributes ?? {},
    receivedAt: dateOf(work?.receivedAt),
  };
}

/** Ids of those who were picked. */
function idsOf(pick: StrategyPick): string[] {
  if (pick === undefined) return [];
  const list: readonly (StrategyCandidate | string)[] = Array.isArray(pick) ? pick : [pick];
  return list.map((each) => (typeof each === 'string' ? each : each.id));
}

/** Runs strategies. */
export class StrategyRunner {
  readonly #strategies: ReadonlyMap<string, AppStrategy>;
  readonly #system: System;
  readonly #log: LogSink;

  /** Throws DuctorError invalid_argument when two strategies have one name. */
  constructor(strategies: readonly AppStrategy[], system: System, log: LogSink) {
    this.#system = system;
    this.#log = log;
    this.#strategies = new Map(strategies.map((strategy) => [strategy.name, strategy]));
    if (this.#strategies.size === strategies.length) return;
    throw new DuctorError('invalid_argument', 'two strategies of this app have one name', {
      remedy: 'give each its own name',
    });
  }

  /** What the engine is told of them. */
  registrations(): StrategyRegistration[] {
    return [...this.#strategies.values()].map(({ name, version }) => ({ name, version }));
  }

  /** Asks a strategy. Never rejects. */
  async answer(question: StrategyQuestion): Promise<StrategyAnswer> {
    const { questionId, name, timeoutMs, poolId, poolName, decisionId } = question;
    const stop = new AbortController();
    const limit = this.#system.after(timeoutMs, () =>
      stop.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')),
    );
    const choice: StrategyChoice = {
      ...{ poolId, poolName, decisionId, signal: stop.signal },
      work: workOf(question),
      candidates: question.candidates.map(candidateOf),
    };
    try {
      const strategy = this.#strategies.get(name);
      if (strategy === undefined) throw new DuctorError('not_found', `this app has no strategy ${name}`);
      const recipientIds = idsOf(await strategy.choose(choice));
      return { questionId, outcome: { $case: 'ranking', value: { recipientIds } } };
    } catch (error) {
      const problem = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(
        0,
        PROBLEM_CHARS_MAX,
      );
      this.#log('error', 'a strategy failed', { strategy: name, pool: poolName, decision_id: decisionId, problem });
      return { questionId, outcome: { $case: 'problem', value: problem } };
    } finally {
      limit.cancel();
    }
  }
}
