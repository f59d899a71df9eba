/** STEP_TYPE_SCATTER: runs its body for each item of a list, so many at a time. */
import { field, type JsonObject } from '../checking/shape.js';
import { compileTemplate } from '../computing/template.js';
import type { ExprField, LiteralField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { DEFINITION_LIMITS } from '../limits.js';
import type { StepType } from './step-type.js';

/** Items under way at a time, where the definition does not say. */
const DEFAULT_PARALLEL = 100;

const ITEMS: ExprField = {
  kind: 'expr',
  isRequired: true,
  example: '"input.leads"',
  variables: 'step',
  result: { list: 'dyn' },
};

/** Items under way at a time. */
export const MAX_PARALLEL: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '20',
  computable: { why: 'it bounds what a run takes, which must be known before it' },
  problem: (value) => {
    const isFine = isWhole(value) && value >= 1 && value <= DEFINITION_LIMITS.maxParallel;
    return isFine ? undefined : `is not a whole number from 1 to ${DEFINITION_LIMITS.maxParallel}`;
  },
};

const PERCENT = /^(100|[0-9]{1,2})(\.[0-9]{1,3})?%$/;

/** How many items may fail. */
export const TOLERATE: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '3 or "5%"',
  computable: { why: 'write a share such as "5%" for lists of different length' },
  problem: (value) => {
    const isFine = (isWhole(value) && value >= 0) || (typeof value === 'string' && PERCENT.test(value));
    return isFine ? undefined : 'is neither a whole number from 0 on nor a share from "0%" to "100%"';
  },
};

function isWhole(value: Json): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

/** Items of a scatter that are under way at a time. */
export function maxParallelOf(args: JsonObject): number {
  const value = field(args, 'max_parallel');
  return typeof value === 'number' ? value : DEFAULT_PARALLEL;
}

/** How many of so many items may fail. */
export function toleratedOf(args: JsonObject): (items: number) => number {
  const value = field(args, 'tolerate');
  if (typeof value !== 'string') return () => (typeof value === 'number' ? value : 0);
  // In thousandths of a percent, so that 5% of 20 is 1 exactly.
  const share = Math.round(Number.parseFloat(value) * 1000);
  return (items) => Math.floor((items * share) / 100_000);
}

/** args: items (expr, a list), max_parallel, tolerate (failed items: a number or a share). */
export const SCATTER: StepType = {
  name: 'STEP_TYPE_SCATTER',
  options: new Set(),
  fieldsOf: () => ({ items: ITEMS, max_parallel: MAX_PARALLEL, tolerate: TOLERATE }),
  canFail: () => true,
  // It fails as its item does, by a timeout too.
  canTimeOut: () => true,
  body: { variables: ['item', 'index'], conditions: [] },
  compile: ({ args = {} }, cel, body) => ({
    type: 'SCATTER',
    items: compileTemplate(cel, field(args, 'items') ?? null, 'args.items'),
    maxParallel: maxParallelOf(args),
    tolerated: toleratedOf(args),
    // Known once the steps beside it are.
    keeps: false,
    body: body().body,
  }),
};
