/** What a step type says of itself: its fields, and how it becomes a step of a plan. */
import type { ExpressionScope, PlanBody, PlanSignal, PlanStep } from '../../machine/plan.js';
import type { ExpressionChecks } from '../checking/expressions.js';
import type { JsonObject } from '../checking/shape.js';
import type { BodyVariable } from '../computing/cel-schemas.js';
import { celVariables, needsOf } from '../computing/cel-scope.js';
import type { CelCompiler } from '../../../expressions/index.js';
import type { Computed, Evaluation } from '../computing/computed.js';
import type { Fields } from '../computing/field-spec.js';
import { newMeter } from '../computing/meter.js';
import type { StepDefinition } from '../definition.js';

/** Fields of a step, beside ref, type, title and args, that only some types take. */
export type StepOption =
  | 'input'
  | 'retry'
  | 'timeout'
  | 'cancel_timeout'
  | 'queue'
  | 'schedule_to_start_timeout'
  | 'heartbeat_timeout'
  | 'priority'
  | 'fairness_key'
  | 'cost'
  | 'idempotency_key'
  | 'concurrency'
  | 'rate_limit';

type WithoutBase<T> = T extends PlanStep
  ? Omit<T, 'ref' | 'title' | 'incoming' | 'outgoing' | 'join' | 'compensates'>
  : never;

/** A step of a plan without its place in the graph. */
export type PlanAction = WithoutBase<PlanStep>;

/** A step type. Pure; one constant per file. */
export interface StepType {
  /** As definitions name it. */
  readonly name: string;
  /** Step fields it takes; others have no effect on it and are refused. */
  readonly options: ReadonlySet<StepOption>;
  /** Fields of args, given the args themselves; undefined when it says all problems by itself. */
  readonly fieldsOf: (args: JsonObject) => Fields | undefined;
  /** Problems that span fields; `hasBody` says whether the step runs a body. */
  readonly check?: (checks: ExpressionChecks, path: string, args: JsonObject, hasBody: boolean) => void;
  /** Whether a step with these args can end as FAILED. */
  readonly canFail: (args: JsonObject) => boolean;
  /** Whether a step with these args, and with a body or without, can fail by a timeout; absent: it cannot. */
  readonly canTimeOut?: (args: JsonObject, hasBody: boolean) => boolean;
  /** The signal that such a step waits for; absent: it waits for none. */
  readonly signalOf?: (step: StepDefinition) => PlanSignal;
  /** Names that edges from it may give as their case; absent: it has no cases. */
  readonly casesOf?: (args: JsonObject) => readonly string[];
  /** Whether it can undo what another step did, as the target of an EDGE_TYPE_COMPENSATE. */
  readonly canCompensate?: boolean;
  /** Whether it ends the run, so that no edge can lead on from it. */
  readonly endsRun?: boolean;
  /** Why it cannot stand in a body; absent: it can. */
  readonly topLevelOnly?: string;
  /** Set for types that run a body. */
  readonly body?: BodyKind;
  /**
   * Compiles a validated step.
   *
   * @param body compiles its body, for types that run one
   */
  readonly compile: (step: StepDefinition, cel: CelCompiler, body: () => CompiledBody) => PlanAction;
}

/** How a step type runs a body. */
export interface BodyKind {
  /** A step without one is none the less complete. Absent: it is not. */
  readonly isOptional?: true;
  /** What expressions of the body may read beside what the step itself may. */
  readonly variables: readonly BodyVariable[];
  /** Args that are conditions asked in the body, once its steps have ended. */
  readonly conditions: readonly string[];
}

/** A body, and a compiler for what is read in it. */
export interface CompiledBody {
  readonly body: PlanBody;
  readonly cel: CelCompiler;
}

/** Turns something compiled into a function of the scope of a tick. */
export function overScope<T>(
  computed: Pick<Computed, 'references'>,
  run: (evaluation: Evaluation) => T,
): (scope: ExpressionScope) => T {
  const needs = needsOf(computed.references);
  return (scope) => run({ variables: celVariables(scope, needs), meter: newMeter() });
}
