/**
 * Ids at any depth of a request: every field of the descriptors that names an object is put into the good request, one
 * at a time.
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { isJsonObject, type JsonFields } from '../../json/check-message.js';
import type { MatrixMethod } from './methods.js';
import { NOBODY, type Ids } from './requests.js';

/** A good request with one id more. */
export interface NestedRequest {
  /** Where the id stands: items[].routable.exclude_ids. */
  readonly path: string;
  /** The request of the first ids with the id of the second in that place. */
  request(own: Ids, other: Ids): JsonFields;
}

const MAX_DEPTH = 6;

/** What fields of a name hold; those of other names hold no ids of a tenant's objects. */
const KINDS: readonly (readonly [RegExp, keyof Ids])[] = [
  [/(^|_)run_ids?$/, 'runId'],
  [/(^|_)workflow_ids?$/, 'workflowId'],
  [/(^|_)family_slugs?$/, 'familySlug'],
  [/(^|_)key_ids?$/, 'keyId'],
  [/(^|_)endpoint_ids?$/, 'endpointId'],
  [/(^|_)schedule_ids?$/, 'scheduleId'],
  [/(^|_)pool_ids?$/, 'poolId'],
  [/(^|_)(recipient|exclude)_ids?$/, 'recipientId'],
  [/(^|_)rule_ids?$/, 'ruleId'],
  [/(^|_)decision_ids?$/, 'decisionId'],
  [/(^|_)assignment_ids?$/, 'assignmentId'],
];

/** Steps from a message to a field of one inside it. */
type Trail = readonly DescField[];

function* trailsOf(message: DescMessage, before: Trail): Generator<readonly [Trail, keyof Ids]> {
  for (const field of message.fields) {
    const trail = [...before, field];
    const kind = KINDS.find(([pattern]) => pattern.test(field.name))?.[1];
    const isText = field.fieldKind === 'scalar' || (field.fieldKind === 'list' && field.listKind === 'scalar');
    if (isText && kind !== undefined) yield [trail, kind];
    // A message in itself, as a fallback of a fallback, is the same fields once more.
    const inner = field.fieldKind === 'message' || field.fieldKind === 'list' ? field.message : undefined;
    const isAgain = inner === undefined || before.some(({ message: outer }) => outer === inner);
    if (inner?.typeName.startsWith('ductor.') === true && !isAgain && trail.length < MAX_DEPTH) {
      yield* trailsOf(inner, trail);
    }
  }
}

/** The object with the id at the end of the trail; of a oneof nothing else stays. */
function put(fields: unknown, [field, ...rest]: Trail, id: string): JsonFields {
  const found: Record<string, unknown> = isJsonObject(fields) ? { ...fields } : {};
  if (field === undefined) return found;
  for (const other of field.oneof?.fields ?? []) if (other !== field) delete found[other.name];
  const old = found[field.name];
  const isList = field.fieldKind === 'list';
  const value = rest.length === 0 ? id : put(isList && Array.isArray(old) ? old[0] : old, rest, id);
  found[field.name] = isList ? [value] : value;
  return found;
}

/** Every place of a method's request that takes an id and has none of the kinds of the matrix. */
export function nestedRequests({ method, request }: MatrixMethod): readonly NestedRequest[] {
  const known = Object.keys(request(NOBODY));
  // At the top and in the good request already: that is what the other cells are about.
  const trails = [...trailsOf(method.input, [])].filter(
    ([trail]) => trail.length > 1 || !known.includes(trail[0]?.name ?? ''),
  );
  return trails.map(([trail, kind]) => ({
    path: trail.map(({ name, fieldKind }) => (fieldKind === 'list' ? `${name}[]` : name)).join('.'),
    request: (own, other) => put(request(own), trail, other[kind]),
  }));
}
