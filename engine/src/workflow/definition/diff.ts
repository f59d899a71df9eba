/**
 * What changes from one definition to another, by meaning: steps by their refs, edges by their ends, fields by their
 * values. Order, and fields that say nothing, make no difference. Pure.
 */
import { canonicalJson } from '../../kernel/index.js';
import { normaliseDefinition } from './canonical.js';
import type { Definition, EdgeDefinition, Json, StepDefinition } from './definition.js';

/** A change of one field, or of a whole step or edge that is new or gone. */
export interface DefinitionChange {
  readonly kind: 'added' | 'removed' | 'changed';
  /** Where: steps[score].retry.max_attempts, edges[fetch -> score, on FAILURE], output. */
  readonly path: string;
  /** What was there; null where nothing was. */
  readonly before: Json;
  /** What is there now; null where nothing is. */
  readonly after: Json;
}

type JsonObject = { readonly [key: string]: Json };

/** Parts with names, in the order of the first definition, then of the second. */
type Parts = ReadonlyMap<string, Json>;

/** Definitions are JSON; their types say more than that. */
function jsonOf(value: object): JsonObject {
  const json: JsonObject = JSON.parse(JSON.stringify(value));
  return json;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isSame = (a: Json, b: Json): boolean => canonicalJson(a) === canonicalJson(b);

/** Changes of a value, down to the fields that differ. Lists are compared whole. */
function fieldChanges(path: string, before: Json | undefined, after: Json | undefined): DefinitionChange[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) return [{ kind: 'added', path, before: null, after: after ?? null }];
  if (after === undefined) return [{ kind: 'removed', path, before, after: null }];
  if (isSame(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ kind: 'changed', path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => fieldChanges(`${path}.${name}`, before[name], after[name]));
}

function partChanges(path: (name: string) => string, before: Parts, after: Parts): DefinitionChange[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => fieldChanges(path(name), before.get(name), after.get(name)));
}

/** Two edges with the same name differ by their conditions only; they are numbered. */
function edgeName({ source_ref: source, target_ref: target, type, case: branch }: EdgeDefinition): string {
  const kind = type.replace('EDGE_TYPE_', '');
  const on = kind === 'SUCCESS' ? '' : `, on ${kind}`;
  return `${source} -> ${target}${on}${branch === undefined ? '' : `, case ${branch}`}`;
}

type Steps = Pick<Definition, 'steps' | 'edges'>;

/** Steps by name, those of bodies behind the step that runs them: `offer].body.steps[post`. */
function stepsOf(definition: Steps | null): Parts {
  const parts = new Map<string, Json>();
  for (const { body, ...step } of definition?.steps ?? []) {
    parts.set(step.ref, body === undefined ? jsonOf(step) : jsonOf({ ...step, body: optionsOfBody(body) }));
    if (body === undefined) continue;
    for (const [ref, inner] of stepsOf(body)) parts.set(`${step.ref}].body.steps[${ref}`, inner);
    for (const [name, edge] of edgesOf(body)) parts.set(`${step.ref}].body.edges[${name}`, edge);
  }
  return parts;
}

function optionsOfBody({ output }: NonNullable<StepDefinition['body']>): object {
  return output === undefined ? {} : { output };
}

function edgesOf(definition: Steps | null): Parts {
  const parts = new Map<string, Json>();
  for (const edge of definition?.edges ?? []) {
    const name = edgeName(edge);
    let unique = name;
    for (let number = 2; parts.has(unique); number += 1) unique = `${name}, ${number}`;
    parts.set(unique, jsonOf(edge));
  }
  return parts;
}

function optionsOf(definition: Definition | null): Parts {
  if (definition === null) return new Map();
  const { family_slug: _slug, steps: _steps, edges: _edges, ...options } = definition;
  return new Map(Object.entries(jsonOf(options)));
}

/**
 * The changes: steps, then edges, then what concerns the whole.
 *
 * @param before null: there was nothing
 */
export function diffDefinitions(before: Definition | null, after: Definition): readonly DefinitionChange[] {
  const [old, fresh] = [before === null ? null : normaliseDefinition(before), normaliseDefinition(after)];
  return [
    ...partChanges((ref) => `steps[${ref}]`, stepsOf(old), stepsOf(fresh)),
    ...partChanges((name) => `edges[${name}]`, edgesOf(old), edgesOf(fresh)),
    ...partChanges((name) => name, optionsOf(old), optionsOf(fresh)),
  ];
}
