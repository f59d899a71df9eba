/** Templates as the machine takes them. */
import type { CelCompiler, CelReference } from '../../../expressions/index.js';
import type { Template } from '../../machine/plan.js';
import type { ValueSource } from '../../machine/value.js';
import type { Json } from '../definition.js';
import { createBuilder } from './builder.js';
import { celVariables, needsOf } from './cel-scope.js';
import { kindOfValue, valueFailed, type Computed } from './computed.js';
import { newMeter } from './meter.js';

const STEP_OUTPUT = /^steps\s*(?:\.\s*([A-Za-z_][A-Za-z0-9_]*)|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])\s*\.\s*output$/;

/** Where the value of a text already stands; null when it has to be computed. */
function sourceOf(value: Json): ValueSource | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  if (text === 'input') return { kind: 'runInput' };
  if (text === 'item' || text === 'vars') return { kind: text };
  const match = STEP_OUTPUT.exec(text);
  const path = match?.[1] ?? match?.[2] ?? match?.[3];
  return path === undefined ? null : { kind: 'stepOutput', path };
}

/** Refs of the steps that references name. */
export function stepsReadBy(references: readonly CelReference[]): readonly string[] {
  const refs = references.filter(([root]) => root === 'steps').map(([, ref]) => ref ?? '');
  return [...new Set(refs)];
}

function toTemplate(computed: Computed, source: ValueSource | null): Template {
  const needs = needsOf(computed.references);
  return {
    source,
    reads: stepsReadBy(computed.references),
    evaluate: (scope) => computed.json({ variables: celVariables(scope, needs), meter: newMeter() }),
  };
}

/** What was compiled, as a template that yields a value of its own. */
export function templateOf(computed: Computed): Template {
  return toTemplate(computed, null);
}

/** A template. Throws DuctorError expression_invalid, expression_too_costly. */
export function compileTemplate(cel: CelCompiler, value: Json, path: string): Template {
  return toTemplate(createBuilder(cel).template(value, path, 'step'), sourceOf(value));
}

/** Longest key that an expression may come to, characters. */
const MAX_KEY_CHARACTERS = 256;

/**
 * A key: evaluates to a text of 1 to 256 characters, everything else is expression_failed; numbers and booleans are
 * written out. Null for no text. Throws as compileTemplate.
 */
export function compileKey(cel: CelCompiler, text: string | undefined, path: string): Template | null {
  if (text === undefined || text === '') return null;
  const template = toTemplate(createBuilder(cel).expression(text, path, 'step'), null);
  return {
    ...template,
    evaluate(scope) {
      const value = template.evaluate(scope);
      const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      const key = isPlain ? String(value) : '';
      if (key.length > 0 && key.length <= MAX_KEY_CHARACTERS) return key;
      const found = typeof value === 'string' ? `a text of ${value.length} characters` : kindOfValue(value);
      const wanted = `a text of 1 to ${MAX_KEY_CHARACTERS} characters, a number or a boolean`;
      return valueFailed(`${path} is ${found}, not ${wanted}`, 'Compute such a one, as string(input.customer_id).');
    },
  };
}

/** A condition: evaluates to true or false, everything else is expression_failed. Throws as compileTemplate. */
export function compileCondition(cel: CelCompiler, text: string, path: string): Template {
  const template = toTemplate(createBuilder(cel).expression(text, path, 'step', 'bool'), null);
  return {
    ...template,
    evaluate(scope) {
      const value = template.evaluate(scope);
      if (typeof value === 'boolean') return value;
      return valueFailed(`${path} is ${kindOfValue(value)}, not true or false`, 'Compare, such as input.amount > 5.0.');
    },
  };
}
