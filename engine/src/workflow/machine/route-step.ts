/**
 * ROUTE steps: the decision is made, and its assignments with it, in the commit of the tick that asks. Where it queues
 * the work, the step waits (queued-step.ts).
 */
import { DuctorError, impossible } from '../../kernel/index.js';
import { failStep } from './fail-step.js';
import { checkSize } from './failure.js';
import type { PlanStep } from './plan.js';
import { startQueued } from './queued-step.js';
import type { RouteAnswer, RoutingWork } from './routing-work.js';
import { holdingFamily } from './selecting.js';
import { emit, type Place, type Tick } from './tick.js';
import { jsonValue } from './value.js';

/** Recipients that must not get it, at most. */
const MAX_EXCLUDED = 100;

/** The ids of a list. Throws expression_failed when it is none. */
function idsIn(value: unknown, path: string): readonly string[] {
  const isList = Array.isArray(value) && value.every((id) => typeof id === 'string');
  if (isList && value.length <= MAX_EXCLUDED) return value.map(String);
  const problem = `args.exclude of step ${path} is no list of at most ${MAX_EXCLUDED} ids of recipients`;
  throw new DuctorError('expression_failed', problem, { remedy: 'Name ids: [steps.offer.output.recipients[0].id].' });
}

type Route = PlanStep & { readonly type: 'ROUTE' };
type RoutingStep = Pick<Route, 'pool' | 'routable' | 'exclude' | 'endsWithRun'> & { readonly isSeatOfFamily?: boolean };

/** Notes what the step asks for. Throws what its routable throws. */
export function workOf(tick: Tick, step: RoutingStep, { expressions }: Place, path: string): RoutingWork {
  const routable = step.routable.evaluate(expressions);
  const excluded = idsIn(step.exclude.evaluate(expressions), path);
  const shown = checkSize(jsonValue(routable), `the routable of step ${path}`);
  const { pool } = step;
  emit(tick, { kind: 'step_selecting', path, pool, routable: shown });
  const family = holdingFamily(tick.draft);
  return {
    ...{ path, pool, routable, excluded },
    ...(step.endsWithRun && { endsWith: family.chainId }),
    ...(step.isSeatOfFamily === true && { family }),
  };
}

/**
 * Begins a ROUTE step. Throws what its routable throws. Without an answer the step waits: the tick is computed anew
 * under the locks that it asked for.
 */
export function startRoute(tick: Tick, step: PlanStep & { readonly type: 'ROUTE' }, place: Place, path: string): void {
  const deadlineUs = step.deadlineUs(place.expressions, tick.nowUs);
  const work = workOf(tick, step, place, path);
  const answer = tick.gate.route(work);
  if (answer === null) return;
  if (answer.kind === 'waiting') return startQueued(tick, path, answer, deadlineUs);
  finish(tick, path, answer);
}

/** Ends the step with the answer. Throws internal for one that has the step wait for something else. */
export function finish(tick: Tick, path: string, answer: RouteAnswer): void {
  if (answer.kind === 'queued' || answer.kind === 'waiting') {
    impossible('route-queued', `step ${path} does not wait in that queue`);
  }
  if (answer.kind === 'failed') return failStep(tick, path, { ...answer, retryable: answer.isRetryable });
  emit(tick, { kind: 'step_completed', path, attempt: 0, output: jsonValue(answer.output) });
  tick.ended.push(path);
}
