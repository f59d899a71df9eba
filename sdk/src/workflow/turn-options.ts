/** Whose turn it is: priorities, fair shares, slots, and room under keys; of a step, and of a run as a whole. */
import { DefinitionError } from './definition-error.js';
import type { ConcurrencyJson, RateLimitJson, StepJson } from './definition-json.js';
import type { Reference, StepRead } from './reference.js';
import { compileTemplate } from './template.js';

/** A key: a reference to a text, number or boolean, or such a value itself. */
export type Key = Reference<string> | Reference<number> | Reference<boolean> | string | number | boolean;

/** At most `limit` holders of a key at a time, over all runs of all workflows of the tenant. */
export interface ConcurrencyKey {
  readonly key: Key;
  /** 1 to 1,000,000. */
  readonly limit: number;
}

/** At most `limit` beginnings in each `per`, evenly spread, over all runs of all workflows of the tenant. */
export interface RateLimit {
  readonly key: Key;
  /** A duration, such as "1m". */
  readonly per: string;
  /** 1 to 1,000,000. */
  readonly limit: number;
}

/** Whose turn the attempts of a step are. */
export interface TurnOptions {
  /** How urgent they are among those that wait for a worker: 1 (first) to 5 (last). Default: the workflow's, 3. */
  readonly priority?: number;
  /** Attempts of one key take turns with those of other keys, however many each has. Default: the workflow's. */
  readonly fairnessKey?: Key;
  /** Slots of a worker that an attempt takes, 1 to 1000; a worker with fewer gives all it has. Default 1. */
  readonly cost?: number;
  /** `ctx.idempotencyKey` of all attempts. Default: the run's id and the step's path. */
  readonly idempotencyKey?: Key;
  /** An attempt begins only when there is room under all of these keys, and holds them until it has ended. */
  readonly concurrency?: readonly ConcurrencyKey[];
  /** An attempt begins only at its turn. */
  readonly rateLimit?: RateLimit;
}

/** Whose turn the runs of a workflow are, by what they were started with. */
export interface RunTurnOptions<In> {
  /** For steps that do not say their own: 1 (first) to 5 (last). Default 3. */
  readonly priority?: number | undefined;
  /** For steps that do not say their own. */
  readonly fairnessKey?: ((input: In) => Key) | undefined;
  /** A run begins only when there is room under all of these keys, and holds them until it has ended. */
  readonly concurrency?: ((input: In) => readonly ConcurrencyKey[]) | undefined;
  /** A run begins only at its turn. */
  readonly rateLimit?: ((input: In) => RateLimit) | undefined;
}

type Turns = Pick<StepJson, 'priority' | 'fairness_key' | 'cost' | 'idempotency_key' | 'concurrency' | 'rate_limit'>;

/** Options as they stand in a definition, and what their keys read. */
interface CompiledTurns {
  readonly json: Turns;
  readonly reads: readonly StepRead[];
}

/** Throws DefinitionError for a key that is no reference, text, number or boolean. */
export function turnsOf(what: string, options: TurnOptions): CompiledTurns {
  const reads: StepRead[] = [];
  const text = (key: Key, name: string): string => {
    const compiled = compileTemplate(key, `${what}: ${name}`);
    reads.push(...compiled.reads);
    const { json } = compiled;
    if (typeof json === 'string') return json;
    if (typeof json === 'number' || typeof json === 'boolean') return String(json);
    throw new DefinitionError(`${what}: ${name} is no key`, 'pass a reference, or a text, number or boolean');
  };
  const { priority, fairnessKey, cost, idempotencyKey, concurrency, rateLimit } = options;
  const json: Turns = {
    ...(priority !== undefined && { priority }),
    ...(fairnessKey !== undefined && { fairness_key: text(fairnessKey, 'fairnessKey') }),
    ...(cost !== undefined && { cost }),
    ...(idempotencyKey !== undefined && { idempotency_key: text(idempotencyKey, 'idempotencyKey') }),
    ...(concurrency !== undefined && {
      concurrency: concurrency.map(({ key, limit }, index): ConcurrencyJson => ({
        key: text(key, `concurrency[${index}].key`),
        limit,
      })),
    }),
    ...(rateLimit !== undefined && {
      rate_limit: { ...rateLimit, key: text(rateLimit.key, 'rateLimit.key') } satisfies RateLimitJson,
    }),
  };
  return { json, reads };
}

/** The same for a whole workflow. */
export function runTurnsOf<In>(what: string, options: RunTurnOptions<In>, input: In): Turns {
  const { priority, fairnessKey, concurrency, rateLimit } = options;
  return turnsOf(what, {
    ...(priority !== undefined && { priority }),
    ...(fairnessKey !== undefined && { fairnessKey: fairnessKey(input) }),
    ...(concurrency !== undefined && { concurrency: concurrency(input) }),
    ...(rateLimit !== undefined && { rateLimit: rateLimit(input) }),
  }).json;
}
