/** Declares a workflow in code. */
import { z } from 'zod';
import { type Handlers, DefinitionCollector } from './builder.js';
import type { WorkflowBuilder } from './workflow-builder.js';
import { DefinitionError } from './definition-error.js';
import type { DefinitionOptions } from './definition-options.js';
import type { DefinitionJson } from './definition-json.js';
import type { Restored } from './jsonify.js';
import type { WholeRef } from './reference.js';
import type { Arrives } from './template.js';

/** A workflow: its definition and the bodies of its steps. In is what a caller passes, Out what a run answers. */
export interface Workflow<In = unknown, Out = unknown> {
  readonly slug: string;
  /** What is published. */
  readonly definition: DefinitionJson;
  /** Bodies by handler name. */
  readonly handlers: Handlers;
  /** Checks and completes an input before it is sent. Throws ZodError. */
  parseInput(input: In): unknown;
  /** Carries the output type; never present. */
  readonly output?: Out;
}

/** What defineWorkflow takes. */
export interface WorkflowOptions<S extends z.ZodType, Output> extends DefinitionOptions<
  WholeRef<Restored<z.output<S>>>
> {
  /** Name, unique in the tenant: lower case letters, digits and hyphens. */
  readonly slug: string;
  /** Schema of the input. What it puts out arrives at the steps as it is: JSON, Date, bigint, Map, Set, Uint8Array. */
  readonly input: S;
  /** Declares the steps, once, at definition time; returns what a run answers. */
  build(w: WorkflowBuilder<Restored<z.output<S>>>): Output;
}

/**
 * Declares a workflow. `build` runs once, here: there is no replay of user code, so no determinism rule to break, and
 * step bodies are ordinary async functions.
 *
 * Throws DefinitionError for what can be seen without the engine; everything else is said when it is published.
 */
export function defineWorkflow<S extends z.ZodType, Output>(
  options: WorkflowOptions<S, Output>,
): Workflow<z.input<S>, Arrives<Output>> {
  const collector = new DefinitionCollector<Restored<z.output<S>>>();
  const output = options.build(collector);
  const { definition, handlers } = collector.finish(
    options.slug,
    options,
    output,
    jsonSchema(options.slug, options.input),
  );
  return { slug: options.slug, definition, handlers, parseInput: (input) => options.input.parse(input) };
}

function jsonSchema(slug: string, schema: z.ZodType): { [key: string]: unknown } {
  try {
    const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'output', unrepresentable: jsonOfTyped });
    return rest;
  } catch (error) {
    throw new DefinitionError(
      `the input schema of ${slug} has no JSON form (${error instanceof Error ? error.message : String(error)})`,
      'use types that JSON has, or Date, bigint, Map, Set and z.instanceof(Uint8Array)',
    );
  }
}

/** What the engine checks of values that are more than JSON: their JSON (docs/workflows.md, Values). */
function jsonOfTyped({ zodSchema }: { readonly zodSchema: z.core.$ZodType }): z.core.JSONSchema.BaseSchema | 'throw' {
  switch (zodSchema._zod.def.type) {
    case 'date':
      return { type: 'string', format: 'date-time' };
    case 'bigint':
      return { type: 'string', pattern: '^-?[0-9]+$' };
    case 'map':
    case 'set':
      return { type: 'array' };
    case 'nan':
      return { type: 'string', const: 'NaN' };
    // z.instanceof(Uint8Array) and checks of the app's own: the client has asked them.
    case 'custom':
    case 'undefined':
      return {};
    default:
      return 'throw';
  }
}

/** Any workflow, whatever its types: what a worker needs of it. */
export type AnyWorkflow = Pick<Workflow, 'slug' | 'definition' | 'handlers'>;
