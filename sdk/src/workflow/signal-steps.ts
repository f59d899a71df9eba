/** Steps that wait for somebody outside: signals and approvals. */
import * as z from 'zod';
import { DefinitionError } from './definition-error.js';
import type { StepJson } from './definition-json.js';
import { type Ref, type StepRead, referenceCore } from './reference.js';
import { type TemplateJson, compileTemplate } from './template.js';

/** A step that waits for a signal. */
export interface SignalOptions<S extends z.ZodType> {
  /** Name of the signal. Default: the name of the step. */
  readonly signal?: string;
  /** What the signal must carry; the engine refuses others. Default: anything. */
  readonly schema?: S;
  /** Longest wait, such as "1h"; then the step fails by a timeout. Default: no limit. */
  readonly timeout?: string | Ref<string>;
}

/** A step that waits until somebody decides. */
export interface ApprovalOptions<Option extends string, S extends z.ZodType> {
  /** Who may decide: names that your app knows people by. Default: whoever may send signals to the run. */
  readonly assignees?: Ref<string> | Ref<string[]> | readonly (string | Ref<string>)[];
  /** What may be decided. Default: approve and reject. */
  readonly options?: readonly Option[];
  /** What the form of a decision must fit. Default: any form, or none. */
  readonly form?: S;
  /** Longest wait, such as "1d"; then the step fails by a timeout. Default: no limit. */
  readonly timeout?: string | Ref<string>;
  /** Who may decide besides, after so long. */
  readonly escalation?: {
    readonly after: string | Ref<string>;
    readonly assignees: Ref<string> | Ref<string[]> | readonly (string | Ref<string>)[];
  };
}

/** What an approval puts out. */
export interface ApprovalOutput<Option extends string, Form> {
  readonly option: Option;
  /** Who decided. */
  readonly by: string;
  readonly comment: string;
  /** null: none was given. */
  readonly form: Form | null;
  /** When, RFC 3339. */
  readonly at: string;
}

/** The args of a step, and what they read. */
export interface StepArgs {
  readonly args: NonNullable<StepJson['args']>;
  readonly reads: readonly StepRead[];
}

/** A schema of what is sent as JSON. Throws DefinitionError for what has none. */
export function schemaJson(schema: z.ZodType, what: string): { [key: string]: unknown } {
  try {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'output' });
    return rest;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DefinitionError(`the ${what} has no JSON form (${why})`, 'use types that JSON has');
  }
}

/** Gathers args. */
class Args implements StepArgs {
  readonly args: { [key: string]: TemplateJson } = {};
  readonly reads: StepRead[] = [];

  constructor(readonly name: string) {}

  duration(value: string | Ref<string> | undefined): TemplateJson | undefined {
    if (value === undefined || typeof value === 'string') return value;
    const core = referenceCore(value);
    if (core === undefined) throw new DefinitionError(`step ${this.name} waits for no duration`, 'write "1h"');
    this.reads.push(...core.reads);
    return { expr: core.cel };
  }

  template(value: unknown, what: string): TemplateJson {
    const { json, reads } = compileTemplate(value, `step ${this.name}: ${what}`);
    this.reads.push(...reads);
    return json;
  }

  schema(schema: z.ZodType, what: string): TemplateJson {
    return schemaJson(schema, `${what} of step ${this.name}`) as TemplateJson;
  }

  set(key: string, value: TemplateJson | undefined): void {
    if (value !== undefined) this.args[key] = value;
  }
}

/** The args of a SIGNAL step. Throws DefinitionError. */
export function signalArgs(name: string, { signal, schema, timeout }: SignalOptions<z.ZodType>): StepArgs {
  const args = new Args(name);
  args.set('name', signal);
  if (schema !== undefined) args.set('schema', args.schema(schema, 'schema'));
  args.set('timeout', args.duration(timeout));
  return args;
}

/** The args of an APPROVAL step. Throws DefinitionError. */
export function approvalArgs(name: string, options: ApprovalOptions<string, z.ZodType>): StepArgs {
  const args = new Args(name);
  const { assignees, form, escalation } = options;
  if (assignees !== undefined) args.set('assignees', args.template(assignees, 'assignees'));
  if (options.options !== undefined) args.set('options', [...options.options]);
  if (form !== undefined) args.set('form', args.schema(form, 'form'));
  args.set('deadline', args.duration(options.timeout));
  if (escalation !== undefined) {
    const after = args.duration(escalation.after) ?? null;
    args.set('escalation', { after, assignees: args.template(escalation.assignees, 'escalation.assignees') });
  }
  return args;
}
