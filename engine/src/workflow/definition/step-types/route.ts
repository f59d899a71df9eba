/** STEP_TYPE_ROUTE: routes a unit of work, and assigns it. */
import { field } from '../checking/shape.js';
import { compileTemplate } from '../computing/template.js';
import { createBuilder } from '../computing/builder.js';
import type { ExprField, LiteralField } from '../computing/field-spec.js';
import { durationField } from './duration-arg.js';
import { POOL, ROUTABLE } from './select.js';
import { compileDeadline } from './signal-arg.js';
import type { StepType } from './step-type.js';

/** Recipients that must not get it. */
export const EXCLUDE: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"[steps.offer.output.recipients[0].id]"',
  variables: 'step',
  result: { list: 'dyn' },
};

/** Whether its assignments end with the run. */
export const ENDS_WITH_RUN: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: 'true',
  computable: { why: 'what ends with a run must be seen in its definition' },
  problem: (value) => (typeof value === 'boolean' ? undefined : 'is neither true nor false'),
};

/** Whose seat it is that a strategy with seats gives to the work. */
const SEAT_FOR: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"family"',
  choices: ['family'],
  computable: { why: 'what ends with a family of runs must be seen in its definition' },
  problem: (value) => (value === 'family' ? undefined : 'is not family'),
};

/**
 * args: pool (name or id; default: the tenant's rules say which), routable (template of the work; default: nothing is
 * known of it), exclude (expr, a list of ids of recipients that must not get it; default: none), ends_with_run (whether
 * what is still assigned ends with the run; default: false), seat_for (family: seats and tiers are the family's, as
 * those of a SELECT; default: the work's own), timeout (how long its work may wait in the queue of a pool; default: as
 * long as that lets it).
 * Output: the decision, with the recipients and their assignments.
 */
export const ROUTE: StepType = {
  name: 'STEP_TYPE_ROUTE',
  options: new Set(),
  fieldsOf: () => ({
    ...{ pool: POOL, routable: ROUTABLE, exclude: EXCLUDE, ends_with_run: ENDS_WITH_RUN, seat_for: SEAT_FOR },
    timeout: durationField('"1h"'),
  }),
  canFail: () => true,
  canTimeOut: (args) => field(args, 'timeout') !== undefined,
  compile({ args = {} }, cel) {
    const pool = field(args, 'pool');
    return {
      type: 'ROUTE',
      pool: typeof pool === 'string' ? pool : '',
      routable: compileTemplate(cel, field(args, 'routable') ?? {}, 'args.routable'),
      exclude: compileTemplate(cel, field(args, 'exclude') ?? '[]', 'args.exclude'),
      endsWithRun: field(args, 'ends_with_run') === true,
      isSeatOfFamily: field(args, 'seat_for') === 'family',
      deadlineUs: compileDeadline(args, 'timeout', createBuilder(cel)),
    };
  },
};
