/** STEP_TYPE_SELECT: chooses recipients of a pool and reserves them for as long as the run and its descendants live. */
import { childPath } from '../checking/problems.js';
import { field, type JsonObject } from '../checking/shape.js';
import { compileTemplate } from '../computing/template.js';
import type { LiteralField, TemplateField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { DEFINITION_LIMITS } from '../limits.js';
import type { StepType } from './step-type.js';

const KNOWN_BEFORE = { why: 'what a run may reserve must be seen in its definition' } as const;

const POOL: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"solar-buyers"',
  computable: KNOWN_BEFORE,
  problem: (value) =>
    typeof value === 'string' && value.length >= 1 && value.length <= 128 ? undefined : 'is not the name of a pool',
};

const ROUTABLE: TemplateField = {
  kind: 'template',
  isRequired: false,
  example: '{"attributes": "steps.score.output"}',
  variables: 'step',
};

function isSize(value: Json): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= DEFINITION_LIMITS.slate;
}

const SIZE: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '3',
  computable: KNOWN_BEFORE,
  problem: (value) => (isSize(value) ? undefined : `is not a whole number from 1 to ${DEFINITION_LIMITS.slate}`),
};

function sizeOf(args: JsonObject, name: string): number | null {
  const value = field(args, name);
  return value !== undefined && isSize(value) ? value : null;
}

/**
 * args: pool (name or id; default: the tenant's rules say which), routable (template of the work; default: nothing is
 * known of it), slate (most recipients; default: as many as the pool says), at_least (fewer are none; default 1).
 * Output: `{"pool_id", "recipients": [{"id", "name", "external_id", "type", "units"}]}`, in order.
 */
export const SELECT: StepType = {
  name: 'STEP_TYPE_SELECT',
  options: new Set(),
  fieldsOf: () => ({ pool: POOL, routable: ROUTABLE, slate: SIZE, at_least: SIZE }),
  check({ problems }, path, args) {
    const [most, least] = [sizeOf(args, 'slate'), sizeOf(args, 'at_least')];
    if (most === null || least === null || least <= most) return;
    problems.add(
      childPath(path, 'at_least'),
      least,
      `is more than slate, which is ${most}`,
      'Lower it, or raise slate.',
    );
  },
  canFail: () => true,
  compile({ args = {} }, cel) {
    const pool = field(args, 'pool');
    return {
      type: 'SELECT',
      pool: typeof pool === 'string' ? pool : '',
      routable: compileTemplate(cel, field(args, 'routable') ?? {}, 'args.routable'),
      slateSize: sizeOf(args, 'slate'),
      atLeast: sizeOf(args, 'at_least') ?? 1,
    };
  },
};
