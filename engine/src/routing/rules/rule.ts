/** Rules: which pool a routable goes to. Checked when written, compiled once, asked in one order. */
import { z } from 'zod';
import type { CelCompiler, CelExpression } from '../../expressions/index.js';
import { DuctorError, parseTimestampUs } from '../../kernel/index.js';
import {
  check,
  checkUpdate,
  count,
  expressionField,
  idField,
  instantField,
  patternText,
  refuse,
  ROUTABLE_SCHEMA,
  type ObjectCheck,
} from '../../pools/index.js';

function ruleSchema(compiler: CelCompiler) {
  return z
    .strictObject({
      name: patternText(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
        'a name of 1 to 128 letters, digits, ".", "_", "-", a letter or digit first',
        'vip-leads',
      ),
      priority: count(-1_000_000, 1_000_000).default(0),
      expr: expressionField(compiler, ROUTABLE_SCHEMA, 'bool'),
      pool_id: idField.optional(),
      action: z.enum(['route', 'drop', 'hold']).default('route'),
      stop: z.boolean().default(true),
      enabled: z.boolean().default(true),
      effective_from: instantField.optional(),
      effective_to: instantField.optional(),
    })
    .superRefine((value, context) => {
      if (value.action === 'route' && value.pool_id === undefined) {
        refuse(context, 'is missing: the action route needs it', 'Name the pool.', ['pool_id']);
      }
    });
}

/** What a user may write of a rule. */
export type RuleFields = z.output<ReturnType<typeof ruleSchema>>;

/** Checks of rules. */
export function ruleCheck(compiler: CelCompiler): ObjectCheck<RuleFields> {
  const schema = ruleSchema(compiler);
  const object = { noun: 'rule', schema, names: Object.keys(schema.shape) };
  return {
    create: (input) => check(object, input),
    update: (current, patch) => checkUpdate(object, current, patch),
  };
}

/** A rule as it is stored. */
export interface StoredRule {
  readonly id: string;
  readonly version: number;
  readonly fields: RuleFields;
}

/** A rule as users see it. */
export interface Rule extends StoredRule {
  readonly tenantId: string;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** A rule made ready to be asked. */
export interface CompiledRule extends StoredRule {
  readonly expression: CelExpression;
  readonly fromUs: number;
  readonly toUs: number;
}

/** Compiles rules and puts them in their order: by priority, then by name. Nothing else plays a part. */
export function compileRules(rules: readonly StoredRule[], compiler: CelCompiler): readonly CompiledRule[] {
  return rules
    .map((rule) => ({
      ...rule,
      expression: compiler.compile(rule.fields.expr, ROUTABLE_SCHEMA, 'bool'),
      fromUs: parseTimestampUs(rule.fields.effective_from ?? '') ?? Number.NEGATIVE_INFINITY,
      toUs: parseTimestampUs(rule.fields.effective_to ?? '') ?? Number.POSITIVE_INFINITY,
    }))
    .toSorted((a, b) => a.fields.priority - b.fields.priority || (a.fields.name < b.fields.name ? -1 : 1));
}

/** What a rule said: whether it matched, or the code of its failure. */
export type RuleResult = boolean | string;

/** What the rules came to. */
export interface RuleMatch {
  /** The rule that decides: the first that matches and stops, or the last that matches before one stops. */
  readonly rule: CompiledRule | undefined;
  /** Those that were asked, in order. */
  readonly trace: readonly (readonly [CompiledRule, RuleResult])[];
}

function ask(rule: CompiledRule, scope: Readonly<Record<string, unknown>>): RuleResult {
  try {
    return rule.expression.evaluate(scope) === true;
  } catch (caught) {
    if (caught instanceof DuctorError && caught.code !== 'internal') return caught.code;
    throw caught;
  }
}

/** Asks the rules one by one. A rule that fails on these values does not match. */
export function matchRules(
  rules: readonly CompiledRule[],
  scope: Readonly<Record<string, unknown>>,
  nowUs: number,
): RuleMatch {
  const trace: (readonly [CompiledRule, RuleResult])[] = [];
  let matched: CompiledRule | undefined;
  for (const rule of rules) {
    if (!rule.fields.enabled || nowUs < rule.fromUs || nowUs >= rule.toUs) continue;
    const result = ask(rule, scope);
    trace.push([rule, result]);
    if (result !== true) continue;
    matched = rule;
    if (rule.fields.stop) break;
  }
  return { rule: matched, trace };
}
