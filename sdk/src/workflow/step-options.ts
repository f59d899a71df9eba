/** What the steps of a workflow are declared with. */
import type { CallbackOptions } from './callback-options.js';
import type { CompensateOptions } from './compensation.js';
import type { StepOutput } from './jsonify.js';
import { DefinitionError } from './definition-error.js';
import type { StepJson } from './definition-json.js';
import type { Ref, WholeRef } from './reference.js';
import type { StepBody } from './step-context.js';
import type { Arrives } from './template.js';

/** How a failure looks to the steps that handle it. */
export interface StepFailureValue {
  readonly code: string;
  readonly message: string;
  readonly attempt: number;
}

/** A step that was declared; later steps read it. */
export interface StepHandle<Out> {
  readonly ref: string;
  /** What the step will have put out. */
  readonly output: WholeRef<Out>;
  /** Why it failed; for steps behind `onFailure` or `always`. */
  readonly error: Ref<StepFailureValue>;
}

/** Where a step stands. */
export interface Placement {
  /** Steps that must have completed before, beside those this step reads; of a switch also one of its cases. */
  readonly after?: AnyStep | readonly AnyStep[];
  /** Runs only when this step failed for good; the run then goes on instead of failing. */
  readonly onFailure?: AnyStep;
  /** Runs only when this step failed by a timeout, instead of its `onFailure`. */
  readonly onTimeout?: AnyStep;
  /** Runs when this step ended, completed or failed. */
  readonly always?: AnyStep;
  /** Runs only when this holds, else it is skipped. Needs at least one step before. */
  readonly when?: Ref<boolean>;
  /**
   * When it begins: "all" (default) once all steps before it have ended as wanted, "any" once one has, `{ nOf: 2 }`
   * once two have. What it reads of the others may be absent: see `firstOf`.
   */
  readonly join?: 'all' | 'any' | { readonly nOf: number };
  /** With a join of any or nOf: stops steps that lead to nothing else once this one begins. */
  readonly cancelLosers?: boolean;
  /** For people; default: the name. */
  readonly title?: string;
}

/** Any declared step, or a case of a switch. */
export interface AnyStep {
  readonly ref: string;
  /** The case of a switch that is meant. */
  readonly case?: string;
}

/** A switch that was declared. */
export interface SwitchHandle<Case extends string> extends Omit<StepHandle<unknown>, 'output'> {
  /** The case that was chosen. */
  readonly output: Ref<{ case: Case | null }>;
  /** One way on: for `after` of the steps that lie on it. */
  on(name: Case): AnyStep;
}

/** Chooses one way on. */
export interface SwitchOptions<Case extends string, Default extends string> extends Placement {
  /** The first that holds is chosen, in this order. */
  readonly cases: Readonly<Record<Case, Ref<boolean>>>;
  /** Chosen when none holds; default: no way. */
  readonly default?: Default;
}

/** Ends the run as FAILED. */
export interface FailOptions extends Placement {
  /** Code of the error. */
  readonly code: string;
  readonly message?: string | Ref<string>;
}

/** Ends the run as COMPLETED. */
export interface CompleteOptions<X> extends Placement {
  /** What the run answers, instead of what `build` returns. Default: null. */
  readonly output?: X;
}

/** A step whose body runs in the app. */
export interface StepOptions<In, Out> extends Placement, CallbackOptions {
  /** What the body receives. Default: the run's input. */
  readonly input?: In;
  readonly run: StepBody<Arrives<In>, Out>;
  /**
   * Undoes what this step did once it has completed and the run ends in any other way than completing. Receives the
   * step's output.
   */
  readonly compensate?:
    StepBody<StepOutput<Awaited<NoInfer<Out>>>, unknown> | CompensateOptions<StepOutput<Awaited<NoInfer<Out>>>>;
}

/** The next time that a cron pattern matches, looked up when the step begins. */
export interface SlotOptions {
  /** Minute, hour, day, month, weekday: "0 9 * * MON-FRI". Seconds may stand in front. */
  readonly cron: string;
  /** IANA name: "Europe/Berlin". */
  readonly timeZone: string;
}

/** A durable wait; exactly one of duration, until and schedule. */
export type WaitOptions = Placement &
  (
    | { readonly duration: string | Ref<string>; readonly until?: never; readonly schedule?: never }
    | { readonly until: Ref<string>; readonly duration?: never; readonly schedule?: never }
    | { readonly schedule: SlotOptions; readonly duration?: never; readonly until?: never }
  );

/**
 * The arguments of a wait. A duration is text, or an object with an expression; `until` always is an expression, and
 * stands there bare. Throws DefinitionError when there is none of them.
 *
 * @param cel the expression of whichever is a reference
 */
export function waitArgument(
  name: string,
  { duration, until, schedule }: WaitOptions,
  cel: string | undefined,
): NonNullable<StepJson['args']> {
  if (schedule !== undefined) return { schedule: { cron: schedule.cron, time_zone: schedule.timeZone } };
  if (typeof duration === 'string') return { duration };
  if (duration !== undefined && cel !== undefined) return { duration: { expr: cel } };
  if (until !== undefined && cel !== undefined) return { until: cel };
  throw new DefinitionError(`step ${name} waits for nothing`, 'give it a duration such as "30s", until or schedule');
}
