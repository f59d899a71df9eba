/** Compiles a validated definition into a plan for the machine. */
import type { CelCompiler } from '../../expressions/index.js';
import { impossible } from '../../kernel/index.js';
import { DEFAULT_PRIORITY, type Plan, type PlanSignal } from '../machine/plan.js';
import { mayHoldBy } from '../machine/selecting.js';
import { CODEC_PREFIX, jsonOfValue } from '../machine/typed-json.js';
import type { Value } from '../machine/value.js';
import { definitionDigest, normaliseDefinition } from './canonical.js';
import { collectProblems } from './checking/problems.js';
import { allSteps, compileSteps } from './compile-steps.js';
import type { Definition, StepDefinition } from './definition.js';
import { checkInputValue, compileInputSchema } from './input-schema/index.js';
import { durationOrNull } from './retry.js';
import { compileSemaphores } from './computing/semaphores.js';
import { compileQueries, compileUpdates, handlersOf } from './compile-updates.js';
import { compileKey } from './computing/template.js';
import { STEP_TYPES } from './step-types/index.js';

function parseInput(input: Value): { readonly json: unknown } | { readonly problem: string } {
  try {
    const found = jsonOfValue(input);
    return found ?? { problem: `input: is encoded as ${JSON.stringify(input.encoding)}; input_schema needs json` };
  } catch {
    return { problem: 'input: is not JSON' };
  }
}

function inputCheck(definition: Definition): Plan['checkInput'] {
  if (definition.input_schema === undefined) return () => [];
  const collector = collectProblems(1);
  const check = compileInputSchema(collector, 'input_schema', definition.input_schema);
  if (collector.found().length > 0) impossible('plan-input-schema', 'a validated schema does not compile');
  return (input) => {
    // Nobody but the app can read it: the app has checked it before.
    if (input.encoding.startsWith(CODEC_PREFIX)) return [];
    const parsed = parseInput(input);
    return 'problem' in parsed ? [parsed.problem] : checkInputValue(check, parsed.json);
  };
}

/** All steps of a definition, also those in bodies. */
function stepsIn(steps: readonly StepDefinition[]): readonly StepDefinition[] {
  return steps.flatMap((step) => [step, ...stepsIn(step.body?.steps ?? [])]);
}

/** The signals that runs of these steps can receive. Steps of one name take what the first of them takes. */
function signalsOf(
  steps: readonly StepDefinition[],
  handlers: ReadonlyMap<string, string>,
): ReadonlyMap<string, PlanSignal> {
  const signals = new Map<string, PlanSignal>();
  for (const step of stepsIn(steps)) {
    const signal = handlers.has(step.ref) ? undefined : STEP_TYPES.get(step.type)?.signalOf?.(step);
    if (signal !== undefined && !signals.has(signal.name)) signals.set(signal.name, signal);
  }
  return signals;
}

/**
 * Compiles a definition that validateDefinition accepted.
 *
 * @param version number of the version; 0 for a plan that is only tried out
 * @throws DuctorError invalid_definition when its steps form a cycle, expression_invalid and expression_too_costly when
 *   its expressions do not compile: an engine with other limits published it
 */
export function compilePlan(definition: Definition, version: number, cel: CelCompiler): Plan {
  const normal = normaliseDefinition(definition);
  const handlers = handlersOf(normal);
  const body = compileSteps(normal, { cel, variables: [], handlers }, normal.family_slug);
  const signals = signalsOf(normal.steps, handlers);
  const steps = allSteps(body);
  return {
    ...body,
    familySlug: normal.family_slug,
    version,
    digest: definitionDigest(normal),
    stepByRef: new Map(steps.map((step) => [step.ref, step])),
    selects: steps.some(mayHoldBy),
    pinned: new Map(Object.entries(normal.pinned_limits ?? {})),
    timeoutMs: durationOrNull(normal.timeout),
    retentionMs: durationOrNull(normal.retention),
    onFailure: normal.on_failure === 'cancel' ? 'cancel' : 'drain',
    onExhausted: normal.on_exhausted === 'park' ? 'park' : 'fail',
    priority: normal.priority ?? DEFAULT_PRIORITY,
    fairnessKey: compileKey(cel, normal.fairness_key, 'fairness_key'),
    receives: signals.size > 0 || handlers.size > 0,
    signals,
    semaphores: compileSemaphores(cel, normal),
    updates: compileUpdates(normal, cel),
    queries: compileQueries(normal, cel),
    checkInput: inputCheck(normal),
  };
}
