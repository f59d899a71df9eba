/** STEP_TYPE_GATHER: collects the outputs of a SCATTER in the order of its items. */
import type { FailedItems } from '../../machine/plan.js';
import { field, type JsonObject } from '../checking/shape.js';
import type { LiteralField } from '../computing/field-spec.js';
import { isStepRef } from '../names.js';
import type { StepType } from './step-type.js';

const OF: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"offer"',
  computable: { why: 'what is kept of the items must be known before a run' },
  problem: (value) => (typeof value === 'string' && isStepRef(value) ? undefined : 'is not the ref of a step'),
};

const CHOICES: readonly FailedItems[] = ['null', 'skip', 'error'];

const FAILED: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"skip"',
  choices: CHOICES,
  computable: { why: 'later steps rely on the form of the list' },
  problem: (value) => (CHOICES.some((choice) => choice === value) ? undefined : `is none of ${CHOICES.join(', ')}`),
};

/** The SCATTER whose outputs a GATHER collects; empty when it is malformed. */
export function gatheredOf(args: JsonObject | undefined): string {
  const of = field(args ?? {}, 'of');
  return typeof of === 'string' ? of : '';
}

/** args: of (ref of the SCATTER), failed (what stands for failed items: null, skip or error). */
export const GATHER: StepType = {
  name: 'STEP_TYPE_GATHER',
  options: new Set(),
  fieldsOf: () => ({ of: OF, failed: FAILED }),
  canFail: () => true,
  compile: ({ args = {} }) => {
    const failed = field(args, 'failed');
    const choice = CHOICES.find((one) => one === failed) ?? 'null';
    return { type: 'GATHER', of: gatheredOf(args), failed: choice };
  },
};
