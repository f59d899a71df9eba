/** STEP_TYPE_CONTINUE_AS_NEW: ends the run, and begins its successor with an input. */
import { field } from '../checking/shape.js';
import type { LiteralField } from '../computing/field-spec.js';
import { compileTemplate } from '../computing/template.js';
import type { StepType } from './step-type.js';

const VERSIONS: readonly string[] = ['same', 'current'];

const VERSION: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"current"',
  choices: VERSIONS,
  computable: { why: 'what a run continues with must be seen in its definition' },
  problem: (value) => (VERSIONS.some((version) => version === value) ? undefined : `is none of ${VERSIONS.join(', ')}`),
};

/** args: version. The successor receives `input` (default: the run's input). */
export const CONTINUE_AS_NEW: StepType = {
  name: 'STEP_TYPE_CONTINUE_AS_NEW',
  options: new Set(['input']),
  fieldsOf: () => ({ version: VERSION }),
  canFail: () => true,
  endsRun: true,
  topLevelOnly: 'a run continues as a whole, whatever its bodies have under way',
  compile: (step, cel) => ({
    type: 'CONTINUE_AS_NEW',
    input: compileTemplate(cel, step.input === undefined ? 'input' : step.input, 'input'),
    isCurrent: field(step.args ?? {}, 'version') === 'current',
  }),
};
