/** STEP_TYPE_SELECT: chooses recipients of a pool and reserves them for as long as the run and its descendants live. */
import { childPath, type ProblemSink } from '../checking/problems.js';
import { field, type JsonObject } from '../checking/shape.js';
import { compileTemplate } from '../computing/template.js';
import type { LiteralField, TemplateField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import type { SelectMode } from '../../machine/plan.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { MAX_PARALLEL, maxParallelOf, TOLERATE, toleratedOf } from './scatter.js';
import type { StepType } from './step-type.js';

const KNOWN_BEFORE = { why: 'what a run may reserve must be seen in its definition' } as const;

/** Name or id of a pool. */
export const POOL: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"solar-buyers"',
  computable: KNOWN_BEFORE,
  problem: (value) =>
    typeof value === 'string' && value.length >= 1 && value.length <= 128 ? undefined : 'is not the name of a pool',
};

/** The work that is routed. */
export const ROUTABLE: TemplateField = {
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

const MODES = ['each', 'ranked', 'slate'] as const;

const MODE: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"ranked"',
  computable: KNOWN_BEFORE,
  problem: (value) => (MODES.some((mode) => mode === value) ? undefined : `is none of ${MODES.join(', ')}`),
};

function modeOf(args: JsonObject): SelectMode {
  const value = field(args, 'mode');
  return MODES.find((mode) => mode === value) ?? 'each';
}

/** Runs of the body of such a step that may be under way at a time. */
export function selectParallelOf(args: JsonObject): number {
  return modeOf(args) === 'each' ? Math.min(maxParallelOf(args), sizeOf(args, 'slate') ?? DEFINITION_LIMITS.slate) : 1;
}

/** What concerns a body says something only where there is one that runs for each recipient. */
function checkBodyArgs(problems: ProblemSink, path: string, args: JsonObject, hasBody: boolean): void {
  const names = [...(hasBody ? [] : ['mode']), ...(hasBody && modeOf(args) === 'each' ? [] : OF_EACH)];
  for (const name of names) {
    const value = field(args, name);
    if (value === undefined) continue;
    const problem = hasBody ? `has no effect in mode ${modeOf(args)}` : 'has no effect without a body';
    problems.add(childPath(path, name), value, problem, 'Remove it.');
  }
}

const OF_EACH = ['max_parallel', 'tolerate'] as const;

/**
 * args: pool (name or id; default: the tenant's rules say which), routable (template of the work; default: nothing is
 * known of it), slate (most recipients; default: as many as the pool says), at_least (fewer are none; default 1).
 * With a body: mode (each, ranked, slate), and of each: max_parallel, tolerate.
 * Output: `{"pool_id", "recipients": [{"id", "name", "external_id", "type", "units"}]}`, in order, and with a body what
 * that came to.
 */
export const SELECT: StepType = {
  name: 'STEP_TYPE_SELECT',
  options: new Set(),
  fieldsOf: () => ({
    ...{ pool: POOL, routable: ROUTABLE, slate: SIZE, at_least: SIZE },
    ...{ mode: MODE, max_parallel: MAX_PARALLEL, tolerate: TOLERATE },
  }),
  check({ problems }, path, args, hasBody) {
    checkBodyArgs(problems, path, args, hasBody);
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
  // It fails as its body does, by a timeout too; choosing by itself takes no time.
  canTimeOut: (_args, hasBody) => hasBody,
  body: { variables: ['item', 'index'], conditions: [], isOptional: true },
  compile({ args = {}, body: declared }, cel, body) {
    const pool = field(args, 'pool');
    return {
      type: 'SELECT',
      pool: typeof pool === 'string' ? pool : '',
      routable: compileTemplate(cel, field(args, 'routable') ?? {}, 'args.routable'),
      slateSize: sizeOf(args, 'slate'),
      atLeast: sizeOf(args, 'at_least') ?? 1,
      ...(declared === undefined ? {} : { body: body().body }),
      mode: modeOf(args),
      maxParallel: maxParallelOf(args),
      tolerated: toleratedOf(args),
    };
  },
};
