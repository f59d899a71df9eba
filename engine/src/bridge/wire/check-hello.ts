/** What a worker's hello must be. */
import { DuctorError, isUuid, type Problem } from '../../kernel/index.js';
import type { WorkerHello, WorkflowRegistration } from '../../gen/ductor/v1/bridge.js';
import type { StrategyRegistration } from '../../gen/ductor/v1/strategy.js';
import { MAX_HANDLERS, MAX_HOLDS, MAX_NAME_CHARS, MAX_QUEUES, MAX_SLOTS } from '../limits.js';
import { MAX_STRATEGIES, MAX_WORKFLOWS } from '../limits.js';

const MAX_WORKER_NAME_CHARS = 256;
/** Printable, no space at either end. */
const NAME = /^[\p{L}\p{N}\p{P}\p{S}]([\p{L}\p{N}\p{P}\p{S}\p{Zs}]*[\p{L}\p{N}\p{P}\p{S}])?$/u;

/** Whether the text can name a handler or queue. */
function isName(text: string): boolean {
  return text.length <= MAX_NAME_CHARS && NAME.test(text);
}

/** What is wrong with a count, if anything. */
export function countProblem(path: string, count: number, min: number, max: number): Problem[] {
  if (count >= min && count <= max) return [];
  return [{ path, value: String(count), problem: `must be ${min} to ${max}`, remedy: 'stay within the bounds' }];
}

/** The first of the names that is none, if any. */
export function nameProblems(path: string, names: readonly string[]): Problem[] {
  const wrong = names.findIndex((name) => !isName(name));
  if (wrong < 0) return [];
  const value = (names[wrong] ?? '').slice(0, 200);
  const problem = `is not a printable name of 1 to ${MAX_NAME_CHARS} characters`;
  return [{ path: `${path}[${wrong}]`, value, problem, remedy: 'give it another name' }];
}

/** Everything that is wrong with the workflows that an app brings. */
export function workflowProblems(workflows: readonly WorkflowRegistration[]): readonly Problem[] {
  const problems = countProblem('workflows', workflows.length, 0, MAX_WORKFLOWS);
  for (const [index, { definition, handlers }] of workflows.slice(0, MAX_WORKFLOWS).entries()) {
    const path = `workflows[${index}]`;
    problems.push(...countProblem(`${path}.handlers`, handlers.length, 0, MAX_HANDLERS));
    problems.push(...nameProblems(`${path}.handlers`, handlers));
    if (definition === undefined) {
      problems.push({ path: `${path}.definition`, value: '', problem: 'is missing', remedy: 'send the definition' });
    }
  }
  return problems;
}

/** As pools name strategies in code. */
const STRATEGY_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
const MAX_VERSION_CHARS = 64;

/** Everything that is wrong with the strategies that an app brings. */
export function strategyProblems(strategies: readonly StrategyRegistration[]): readonly Problem[] {
  const problems = countProblem('strategies', strategies.length, 0, MAX_STRATEGIES);
  const names = new Set<string>();
  for (const [index, { name, version }] of strategies.slice(0, MAX_STRATEGIES).entries()) {
    const path = `strategies[${index}]`;
    if (!STRATEGY_NAME.test(name)) {
      const problem = 'is no name of a strategy';
      const remedy = 'begin with a letter; letters, digits, points, hyphens and underscores, 64 at most';
      problems.push({ path: `${path}.name`, value: name.slice(0, MAX_VERSION_CHARS), problem, remedy });
    }
    if (names.has(name)) {
      problems.push({ path: `${path}.name`, value: name, problem: 'is there twice', remedy: 'bring one of them' });
    }
    names.add(name);
    problems.push(...countProblem(`${path}.version`, version.length, 0, MAX_VERSION_CHARS));
  }
  return problems;
}

/** Everything that is wrong with it. */
function problemsOf(hello: WorkerHello): readonly Problem[] {
  const { workerId, name, sdkVersion, slots, queues, workflows, inventory } = hello;
  const problems = [
    ...countProblem('slots', slots, 1, MAX_SLOTS),
    ...countProblem('queues', queues.length, 0, MAX_QUEUES),
    ...countProblem('inventory.holds', inventory?.holds.length ?? 0, 0, MAX_HOLDS),
    ...countProblem('name', name.length, 0, MAX_WORKER_NAME_CHARS),
    ...countProblem('sdk_version', sdkVersion.length, 0, MAX_NAME_CHARS),
    ...nameProblems('queues', queues),
  ];
  if (!isUuid(workerId)) {
    const problem = 'is not a UUID in lower case';
    problems.push({ path: 'worker_id', value: workerId.slice(0, 200), problem, remedy: 'draw one at the start' });
  }
  return [...problems, ...workflowProblems(workflows), ...strategyProblems(hello.strategies)];
}

/** Throws invalid_argument with everything that is wrong. */
export function checkHello(hello: WorkerHello): void {
  const details = problemsOf(hello).map((problem) => ({ ...problem, path: `hello.${problem.path}` }));
  if (details.length > 0)
    throw new DuctorError('invalid_argument', 'the hello of the worker is not valid', { details });
}
