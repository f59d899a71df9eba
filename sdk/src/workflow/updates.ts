/** What callers may ask of a run: updates, each taken by a step, and queries. */
import type * as z from 'zod';
import type { CallbackOptions } from './callback-options.js';
import { DefinitionError } from './definition-error.js';
import type { DefinitionJson, UpdateJson } from './definition-json.js';
import type { Jsonify } from './jsonify.js';
import { type Ref, type Reference, type WholeRef, makeReference, referenceCore } from './reference.js';
import { schemaJson } from './signal-steps.js';
import type { StepBody } from './step-context.js';
import type { Placement } from './step-options.js';
import { compileTemplate } from './template.js';
import type { TurnOptions } from './turn-options.js';

/** What an update has whoever takes it. */
export interface UpdateOptions<S extends z.ZodType> extends Placement {
  /** What it must carry; the engine refuses others. Default: anything. */
  readonly input?: S;
  /** Whether the run takes it as it stands now: a condition, or a text that says why not (empty: it does). */
  readonly validate?: (update: WholeRef<Jsonify<z.output<S>>>) => Ref<boolean> | Ref<string>;
  /** What the caller is answered: references and plain values, also of the step. Default: what the step puts out. */
  readonly output?: (update: WholeRef<Jsonify<z.output<S>>>, step: { readonly output: WholeRef<unknown> }) => unknown;
}

/** An update that a body of this app takes: it receives the input of the update. */
export interface HandledUpdateOptions<S extends z.ZodType, Out> extends UpdateOptions<S>, CallbackOptions, TurnOptions {
  readonly run: StepBody<Jsonify<z.output<S>>, Out>;
}

/** An update of whatever types. */
export interface AnyUpdateOptions extends UpdateOptions<z.ZodAny>, CallbackOptions, TurnOptions {
  readonly run?: StepBody<never, unknown>;
}

const UPDATE = makeReference({ cel: 'update', reads: [] });

/** The text behind a condition, or a reason. */
function conditionText(name: string, condition: unknown): string {
  const core = referenceCore(condition);
  if (core !== undefined) return core.cel;
  throw new DefinitionError(`validate of update ${name} is no condition`, 'compare something: update.amount.gt(5)');
}

/** An update of a name that the step of this name takes. Throws DefinitionError. */
function updateJson<S extends z.ZodType>(
  name: string,
  { input, validate, output }: UpdateOptions<S>,
  step: { readonly output: unknown },
): UpdateJson {
  const update = UPDATE as WholeRef<Jsonify<z.output<S>>>;
  const answer = output?.(update, step as { readonly output: WholeRef<unknown> });
  return {
    name,
    ...(input !== undefined && { input_schema: schemaJson(input, `input of update ${name}`) }),
    ...(validate !== undefined && { validate: conditionText(name, validate(update)) }),
    handled_by: name,
    ...(answer !== undefined && { output: compileTemplate(answer, `update ${name}: output`).json }),
  };
}

/** The text of a query. Throws DefinitionError for what is no reference. */
function queryText(name: string, value: Reference<unknown>): string {
  const core = referenceCore(value);
  if (core !== undefined) return core.cel;
  throw new DefinitionError(`query ${name} is no reference`, 'pass one, or write cel`…`');
}

/** Collects what a workflow can be asked. */
export class Questions {
  readonly #updates: UpdateJson[] = [];
  readonly #queries = new Map<string, string>();

  /** Adds an update that a step takes. Throws DefinitionError. */
  update(name: string, options: AnyUpdateOptions, step: { readonly output: unknown }): void {
    this.#updates.push(updateJson(name, options, step));
  }

  /** Adds a query. Throws DefinitionError for what is no reference, and for a name that is taken. */
  query(name: string, value: Reference<unknown>): void {
    if (this.#queries.has(name)) throw new DefinitionError(`two queries are named ${name}`, 'rename one of them');
    this.#queries.set(name, queryText(name, value));
  }

  /** The same in a definition; absent where there are none. */
  json(): Pick<DefinitionJson, 'updates' | 'queries'> {
    return {
      ...(this.#updates.length > 0 && { updates: this.#updates }),
      ...(this.#queries.size > 0 && { queries: Object.fromEntries(this.#queries) }),
    };
  }
}
