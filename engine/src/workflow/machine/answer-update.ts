/**
 * Updates: signals that are answered.
 *
 * 1. An update that the run has received is answered once, when the step that took it ends; one that no step has taken
 *    waits for its step, also in the run that continues this one. The end of the chain leaves it unanswered.
 * 2. Whether it is refused is asked twice: at the door, so that nothing of it stays, and when it is received, since the
 *    run may have gone on between the two. The second refusal is its answer.
 */
import { ownFailure, tryPlan } from './failure.js';
import { scopeOfPath } from './path.js';
import type { PlanUpdate } from './plan.js';
import { expressionsOf } from './scope.js';
import { sourceOf } from './source-of.js';
import type { Signal } from './signal-box.js';
import type { RunFailure } from './state.js';
import { emit, placeAt, type AnswerUpdate, type Tick } from './tick.js';

function failure(code: string, message: string, step: string): RunFailure {
  return { code, message, step, attempt: 0, retryable: false, stack: '' };
}

/** Tells the caller what the step came to. A run that is terminated tells nothing any more. */
export const answerUpdate: AnswerUpdate = (tick, path, { name, id, payload }) => {
  const { draft, plan } = tick;
  const step = draft.steps.get(path);
  if (draft.terminated || step === undefined) return;
  const common = { kind: 'update_answered', name, id } as const;
  if (step.status !== 'COMPLETED') {
    const stopped = failure('cancelled', `step ${path}, which had taken update ${name}, was stopped`, path);
    emit(tick, { ...common, output: null, error: step.status === 'FAILED' && step.error ? step.error : stopped });
    return;
  }
  const output = plan.updates.get(name)?.output ?? null;
  if (output === null) return emit(tick, { ...common, output: { kind: 'stepOutput', path }, error: null });
  const scope = scopeOfPath(path);
  const place = { ...placeAt(tick, scope), expressions: expressionsOf(draft, scope, payload) };
  const found = tryPlan(() => sourceOf(tick, place, output, `the answer to update ${name}`));
  if (found.ok) emit(tick, { ...common, output: found.value, error: null });
  else emit(tick, { ...common, output: null, error: ownFailure(path, found.error, 'output: ') });
};

/** Why an update is refused as the run stands now; null: it is not. */
export function refusalOf(tick: Tick, update: PlanUpdate, { name, payload }: Signal): RunFailure | null {
  const { refusal } = update;
  if (refusal === null) return null;
  const found = tryPlan(() => refusal.evaluate(expressionsOf(tick.draft, '', payload)));
  if (!found.ok) return ownFailure('', found.error);
  return found.value === null ? null : failure('update_refused', `update ${name} is refused: ${found.value}`, '');
}
