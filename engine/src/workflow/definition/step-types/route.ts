/** STEP_TYPE_ROUTE: routes a unit of work, and assigns it. */
import { field } from '../checking/shape.js';
import { compileTemplate } from '../computing/template.js';
import type { ExprField } from '../computing/field-spec.js';
import { POOL, ROUTABLE } from './select.js';
import type { StepType } from './step-type.js';

/** Recipients that must not get it. */
export const EXCLUDE: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"[steps.offer.output.recipients[0].id]"',
  variables: 'step',
  result: { list: 'dyn' },
};

/**
 * args: pool (name or id; default: the tenant's rules say which), routable (template of the work; default: nothing is
 * known of it), exclude (expr, a list of ids of recipients that must not get it; default: none).
 * Output: the decision, with the recipients and their assignments.
 */
export const ROUTE: StepType = {
  name: 'STEP_TYPE_ROUTE',
  options: new Set(),
  fieldsOf: () => ({ pool: POOL, routable: ROUTABLE, exclude: EXCLUDE }),
  canFail: () => true,
  compile({ args = {} }, cel) {
    const pool = field(args, 'pool');
    return {
      type: 'ROUTE',
      pool: typeof pool === 'string' ? pool : '',
      routable: compileTemplate(cel, field(args, 'routable') ?? {}, 'args.routable'),
      exclude: compileTemplate(cel, field(args, 'exclude') ?? '[]', 'args.exclude'),
    };
  },
};
