/** Finds everything that is wrong with a definition at once. Never throws, whatever it is given. */
import type { CelCompiler } from '../../expressions/index.js';
import type { Problem } from '../../kernel/index.js';
import { normaliseDefinition } from './canonical.js';
import { checkDetached } from './checking/check-detached.js';
import { checkSignals } from './checking/check-signals.js';
import { checkQueries, checkUpdates, readUpdates } from './checking/check-updates.js';
import { checkDuration } from './checking/check-retry.js';
import { checkLevels } from './checking/check-level.js';
import { checkSemaphores } from './checking/check-semaphores.js';
import { checkPriority, checkTitle } from './checking/check-step.js';
import { checkExpression, type ExpressionChecks } from './checking/expressions.js';
import { isBearableJson } from './checking/json-limits.js';
import { childPath, collectProblems, type ProblemSink } from './checking/problems.js';
import { readLevels } from './checking/read-level.js';
import {
  field,
  optionalList,
  optionalText,
  readObject,
  refuseUnknown,
  requireField,
  requireText,
} from './checking/shape.js';
import type { ObjectReader } from './checking/shape.js';
import type { Definition } from './definition.js';
import { compileInputSchema } from './input-schema/index.js';
import { DEFINITION_LIMITS } from './limits.js';
import { isFamilySlug } from './names.js';
import { RETENTION_MS } from '../retention/limits.js';
import { didYouMean } from './suggest.js';

/** What validation says. */
export interface Validation {
  /** The definition without fields that say nothing; present exactly when there are no problems. */
  readonly definition?: Definition;
  /** Everything that is wrong, at most 1,000 and one that counts the rest. */
  readonly problems: readonly Problem[];
}

const ROOT_FIELDS = ['family_slug', 'title', 'steps', 'edges', 'output', 'input_schema'].concat([
  'timeout',
  'on_failure',
  'on_exhausted',
  ...['priority', 'fairness_key', 'concurrency', 'rate_limit', 'retention', 'updates', 'queries'],
]);
const ON_FAILURE = ['drain', 'cancel'];
const ON_EXHAUSTED = ['fail', 'park'];

function checkInputSchema(root: ObjectReader): void {
  const schema = field(root.object, 'input_schema');
  if (schema === undefined) return;
  const path = childPath(root.path, 'input_schema');
  const reader = readObject(root.problems, path, schema);
  if (reader !== undefined) compileInputSchema(root.problems, path, reader.object);
}

/** A value without problems is a definition: this is what validation means. */
function isDefinition(_value: unknown, problems: readonly Problem[]): _value is Definition {
  return problems.length === 0;
}

function checkChoice(root: ObjectReader, key: string, choices: readonly string[]): void {
  const value = optionalText(root, key);
  if (value === undefined || choices.includes(value)) return;
  const remedy = `Use one of ${choices.join(', ')}.${didYouMean(value, choices)}`;
  root.problems.add(childPath(root.path, key), value, `is no value of ${key}`, remedy);
}

function checkOptions(root: ObjectReader, cel: CelCompiler): void {
  checkDuration(root, 'timeout', 1, DEFINITION_LIMITS.waitMs);
  checkDuration(root, 'retention', RETENTION_MS.min, RETENTION_MS.max);
  checkChoice(root, 'on_failure', ON_FAILURE);
  checkChoice(root, 'on_exhausted', ON_EXHAUSTED);
  checkPriority(root);
  const key = optionalText(root, 'fairness_key');
  const checks = beforeTheSteps(root.problems, cel);
  if (key !== undefined) checkExpression(checks, 'fairness_key', key, 'step');
  checkSemaphores(checks, root);
}

/** Reads as what is computed before any step has begun. */
function beforeTheSteps(problems: ProblemSink, cel: CelCompiler): ExpressionChecks {
  return { problems, cel, reader: { ref: '', refs: new Set(), isBefore: () => false } };
}

function checkNames(root: ObjectReader): void {
  requireText(root, 'family_slug', {
    example: '"lead-intake"',
    isFine: isFamilySlug,
    wanted: 'made of lower-case letters, digits and hyphens, a letter first, at most 128 (and no UUID)',
  });
  checkTitle(root);
}

/**
 * What keeps a definition from being stored as a draft: no JSON, too large, no name, a bad title, steps or edges that
 * are no lists of objects. Everything else may still be mended. Never throws.
 */
export function checkStorable(json: unknown): readonly Problem[] {
  const collector = collectProblems(DEFINITION_LIMITS.problems);
  if (!isBearableJson(json, collector)) return collector.found();
  const root = readObject(collector, '', json);
  if (root === undefined) return collector.found();
  checkNames(root);
  requireField(root, 'steps', '[]');
  for (const key of ['steps', 'edges']) {
    for (const [index, value] of (optionalList(root, key) ?? []).entries()) {
      readObject(collector, childPath(key, index), value);
    }
  }
  return collector.found();
}

/**
 * Validates a definition.
 *
 * @param json what a user sent, whatever it is
 * @param cel compiles the expressions; its cache is shared with compilePlan
 */
export function validateDefinition(json: unknown, cel: CelCompiler): Validation {
  const collector = collectProblems(DEFINITION_LIMITS.problems);
  if (!isBearableJson(json, collector)) return { problems: collector.found() };
  const root = readObject(collector, '', json);
  if (root === undefined) return { problems: collector.found() };
  refuseUnknown(root, ROOT_FIELDS, 'a definition');
  checkNames(root);
  checkOptions(root, cel);
  const levels = readLevels(root);
  const updates = readUpdates(root);
  checkLevels(levels, cel, updates);
  checkInputSchema(root);
  checkSignals(levels, updates);
  checkUpdates(updates, levels, cel);
  checkQueries(root, levels, cel);
  checkDetached(levels);
  const problems = collector.found();
  return isDefinition(json, problems) ? { definition: normaliseDefinition(json), problems } : { problems };
}
