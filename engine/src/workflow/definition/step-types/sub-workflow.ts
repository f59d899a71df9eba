/** STEP_TYPE_SUB_WORKFLOW: starts a run of another workflow and waits for its end, or lets it go its own way. */
import type { ClosePolicy } from '../../machine/plan.js';
import { field, jsonKind, type JsonObject } from '../checking/shape.js';
import type { LiteralField } from '../computing/field-spec.js';
import { compileTemplate } from '../computing/template.js';
import { isFamilySlug } from '../names.js';
import type { StepType } from './step-type.js';

const KNOWN_BEFORE = { why: 'what a run starts must be seen in its definition' } as const;
const POLICIES: readonly ClosePolicy[] = ['cancel', 'terminate', 'abandon'];

const WORKFLOW: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"send-invoice"',
  computable: KNOWN_BEFORE,
  problem: (value) => (typeof value === 'string' && isFamilySlug(value) ? undefined : 'is not the slug of a workflow'),
};

const VERSION: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '3',
  computable: KNOWN_BEFORE,
  problem: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1e9
      ? undefined
      : 'is not the number of a version',
};

const DETACH: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: 'true',
  computable: KNOWN_BEFORE,
  problem: (value) => (typeof value === 'boolean' ? undefined : `is ${jsonKind(value)}, not true or false`),
};

const POLICY: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"abandon"',
  choices: POLICIES,
  computable: KNOWN_BEFORE,
  problem: (value) => (POLICIES.some((policy) => policy === value) ? undefined : `is none of ${POLICIES.join(', ')}`),
};

/** A child that somebody waits for is cancelled with its parent, one that nobody waits for is let go. */
function policyOf(args: JsonObject): ClosePolicy {
  const given = field(args, 'parent_close_policy');
  return POLICIES.find((policy) => policy === given) ?? (field(args, 'detach') === true ? 'abandon' : 'cancel');
}

/** args: workflow, version, detach, parent_close_policy. The child receives `input` (default: the run's input). */
export const SUB_WORKFLOW: StepType = {
  name: 'STEP_TYPE_SUB_WORKFLOW',
  options: new Set(['input']),
  canCompensate: true,
  canTimeOut: () => true,
  fieldsOf: () => ({ workflow: WORKFLOW, version: VERSION, detach: DETACH, parent_close_policy: POLICY }),
  canFail: () => true,
  compile(step, cel) {
    const { args = {} } = step;
    const [slug, version] = [field(args, 'workflow'), field(args, 'version')];
    return {
      type: 'SUB_WORKFLOW',
      familySlug: typeof slug === 'string' ? slug : '',
      version: typeof version === 'number' ? version : 0,
      input: compileTemplate(cel, step.input === undefined ? 'input' : step.input, 'input'),
      isDetached: field(args, 'detach') === true,
      closePolicy: policyOf(args),
    };
  },
};
