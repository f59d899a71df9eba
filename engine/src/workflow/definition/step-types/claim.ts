/** STEP_TYPE_CLAIM: puts a unit of work in a claim queue, and waits until a recipient takes it. */
import type { ClaimUntil } from '../../machine/claim-until.js';
import { field } from '../checking/shape.js';
import { createBuilder } from '../computing/builder.js';
import type { LiteralField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { compileTemplate } from '../computing/template.js';
import { durationField } from './duration-arg.js';
import { ENDS_WITH_RUN, EXCLUDE } from './route.js';
import { POOL, ROUTABLE } from './select.js';
import { compileDeadline } from './signal-arg.js';
import type { StepType } from './step-type.js';

const isUntil = (value: Json | undefined): value is ClaimUntil => value === 'claimed' || value === 'completed';

const UNTIL: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"completed"',
  computable: { why: 'what a step waits for must be seen in its definition' },
  problem: (value) => (isUntil(value) ? undefined : 'is neither claimed nor completed'),
};

/**
 * args: pool, routable, exclude and ends_with_run (as of a ROUTE), until (claimed, the default, or completed), timeout.
 * Output: `{"item_id", "decision_id", "recipient": {"id", "name", "external_id", "type", "units"}, "assignment_id"}`.
 */
export const CLAIM: StepType = {
  name: 'STEP_TYPE_CLAIM',
  options: new Set(),
  fieldsOf: () => ({
    ...{ pool: POOL, routable: ROUTABLE, exclude: EXCLUDE, ends_with_run: ENDS_WITH_RUN },
    ...{ until: UNTIL, timeout: durationField('"1h"') },
  }),
  canFail: () => true,
  canTimeOut: (args) => field(args, 'timeout') !== undefined,
  compile({ args = {} }, cel) {
    const [pool, until] = [field(args, 'pool'), field(args, 'until')];
    return {
      type: 'CLAIM',
      pool: typeof pool === 'string' ? pool : '',
      routable: compileTemplate(cel, field(args, 'routable') ?? {}, 'args.routable'),
      exclude: compileTemplate(cel, field(args, 'exclude') ?? '[]', 'args.exclude'),
      endsWithRun: field(args, 'ends_with_run') === true,
      until: isUntil(until) ? until : 'claimed',
      deadlineUs: compileDeadline(args, 'timeout', createBuilder(cel)),
    };
  },
};
