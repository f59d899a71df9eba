/** STEP_TYPE_SIGNAL: waits for a named signal to the run; its payload is the output. */
import { field } from '../checking/shape.js';
import { createBuilder } from '../computing/builder.js';
import { durationField } from './duration-arg.js';
import { checkSchema, compileCheck, compileDeadline, SCHEMA, SIGNAL_NAME, signalName } from './signal-arg.js';
import type { StepType } from './step-type.js';

/** args: name (literal, default the ref), schema (JSON Schema of the payload), timeout (literal). */
export const SIGNAL: StepType = {
  name: 'STEP_TYPE_SIGNAL',
  options: new Set(),
  fieldsOf: () => ({ name: SIGNAL_NAME, schema: SCHEMA, timeout: durationField('"1h"') }),
  check: (checks, path, args) => checkSchema(checks, path, args, 'schema'),
  canFail: (args) => field(args, 'timeout') !== undefined,
  canTimeOut: (args) => field(args, 'timeout') !== undefined,
  signalOf: (step) => ({
    name: signalName(step),
    options: null,
    check: compileCheck(step, 'schema', 'payload'),
  }),
  compile(step, cel) {
    const deadlineUs = compileDeadline(step.args ?? {}, 'timeout', createBuilder(cel));
    return { type: 'SIGNAL', signal: signalName(step), deadlineUs };
  },
};
