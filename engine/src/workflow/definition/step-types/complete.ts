/** STEP_TYPE_COMPLETE: ends the run with an output. */
import { field } from '../checking/shape.js';
import { compileTemplate } from '../computing/template.js';
import type { StepType } from './step-type.js';

/** args: output (template; default null). */
export const COMPLETE: StepType = {
  name: 'STEP_TYPE_COMPLETE',
  options: new Set(),
  fieldsOf: () => ({
    output: { kind: 'template', isRequired: false, example: '{"answer": "steps.ask.output"}', variables: 'step' },
  }),
  canFail: () => true,
  endsRun: true,
  compile: ({ args = {} }, cel) => ({
    type: 'COMPLETE',
    output: compileTemplate(cel, field(args, 'output') ?? null, 'args.output'),
  }),
};
