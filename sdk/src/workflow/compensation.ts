/** Steps that undo what others did (a saga). */
import type { CallbackOptions } from './callback-options.js';
import type { Ref } from './reference.js';
import type { StepBody } from './step-context.js';
import type { Arrives } from './template.js';

interface Common extends CallbackOptions {
  /** Undone only when this holds. */
  readonly when?: Ref<boolean>;
  /** For people; default: the name. */
  readonly title?: string;
}

/** `compensate` of a step, when more is to be said than the body. */
export interface CompensateOptions<Out> extends Common {
  /** Name of the step that undoes. Default: "undo-" and the name of the step. */
  readonly name?: string;
  /** Receives the output of the step it undoes. */
  readonly run: StepBody<Out, unknown>;
}

/** A compensation that receives something else than the output of its step. */
export interface CompensationOptions<In> extends Common {
  /** What the body receives; may read every step. Default: the output of the step it undoes. */
  readonly input?: In;
  readonly run: StepBody<Arrives<In>, unknown>;
}

/** A compensation of whatever types, with its name. */
export interface NamedUndo extends Common {
  readonly name: string;
  readonly run: StepBody<never, unknown>;
}

/** The short form of a compensation in full. */
export function namedUndo<Out>(step: string, given: StepBody<Out, unknown> | CompensateOptions<Out>): NamedUndo {
  const name = `undo-${step}`;
  return typeof given === 'function' ? { name, run: given } : { name, ...given };
}
