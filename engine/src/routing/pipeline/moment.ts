/**
 * The moment of one attempt: what its strategies are given. Most choices need no dice: the seed is worked out when
 * asked for.
 */
import type { CelExpression } from '../../expressions/index.js';
import { NO_ANSWERS, type Answers } from '../core/answer.js';
import type { Binding, Candidate, Context, PoolState } from '../core/candidate.js';
import type { Routable } from '../core/routable.js';
import { createStream, type Seed, type Stream } from '../core/stream.js';
import type { DecisionInput, PoolSnapshot } from './decision.js';
import type { Looked } from './filter.js';
import type { Evaluator } from './scope.js';

const NOBODY: readonly string[] = [];

/** The context of one attempt. */
export class Moment implements Context {
  readonly nowUs: number;
  readonly poolId: string;
  readonly routable: Routable;
  readonly family: string | undefined;
  readonly dueUs: number | undefined;
  readonly previous: readonly string[];
  readonly members: ReadonlyMap<string, number>;
  readonly state: PoolState;
  readonly bindings: ReadonlyMap<string, Binding>;
  readonly answers: Answers;
  readonly isCapped: boolean;
  readonly #evaluator: Evaluator;
  readonly #looked: readonly Looked[];
  readonly #drawSeed: () => Seed;
  #seed: Seed | undefined;
  #stream: Stream | undefined;

  constructor(
    input: DecisionInput,
    { view, state, bindings, answers }: PoolSnapshot,
    evaluator: Evaluator,
    looked: readonly Looked[],
    attempt: { readonly isCapped: boolean; readonly seed: () => Seed; readonly dueUs: number | undefined },
  ) {
    this.nowUs = input.nowUs;
    this.poolId = view.id;
    this.routable = input.routable;
    this.family = input.family;
    this.dueUs = attempt.dueUs;
    this.previous = input.previous ?? NOBODY;
    this.members = view.tiers;
    this.state = state;
    this.bindings = bindings;
    this.answers = answers ?? NO_ANSWERS;
    this.isCapped = attempt.isCapped;
    this.#evaluator = evaluator;
    this.#looked = looked;
    this.#drawSeed = attempt.seed;
  }

  get seed(): Seed {
    return (this.#seed ??= this.#drawSeed());
  }

  get stream(): Stream {
    return (this.#stream ??= createStream(this.seed));
  }

  /** Random numbers drawn so far. */
  get draws(): number {
    return this.#stream?.draws ?? 0;
  }

  evaluate(expression: CelExpression, candidate?: Candidate): unknown {
    const looked = candidate === undefined ? undefined : this.#looked[candidate.place];
    if (looked === undefined) return this.#evaluator.routable(expression);
    return this.#evaluator.recipient(expression, looked.member, looked.facts, looked.cap);
  }
}
