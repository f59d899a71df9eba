/** What the entries of bodies do to a run: scopes begin, end and leave their outcome to the step that ran them. */
import { impossible } from '../../kernel/index.js';
import { gathered, itemCompleted, itemFailed, openOf } from './body-state.js';
import type { Draft } from './draft.js';
import type { Entry } from './entries.js';
import { indexOfScope, ownerOfScope, scopeName, scopeOfPath } from './path.js';
import { valueOf } from './resolve-source.js';
import type { BodyState, StepState } from './state.js';
import type { BodyEntry } from './transitions.js';
import { NULL_VALUE, type Value } from './value.js';

/** The first step of an item or iteration begins it: nothing else says so in the journal. */
export function beginScope(draft: Draft, path: string): void {
  const scope = scopeOfPath(path);
  if (scope === '' || draft.steps.scope(scope) !== undefined) return;
  const owner = draft.steps.get(ownerOfScope(scope));
  const begun = owner?.body?.begun;
  if (!owner?.body || begun !== indexOfScope(scope)) {
    impossible('body-begin', `${scope} of run ${draft.before.runId} begins after ${begun ?? 'no'} others`);
  }
  draft.steps.set({ ...owner, body: { ...owner.body, begun: begun + 1 } });
}

function outcomeOf(draft: Draft, body: BodyState, entry: BodyEntry): BodyState {
  switch (entry.kind) {
    case 'body_completed': {
      const { path, index, output } = entry;
      // A source names values as the steps of the scope do: the name of a step stands for the reader.
      const reader = `${scopeName(path, index)}/`;
      return itemCompleted(body, index, output === null ? NULL_VALUE : valueOf(draft, output, reader));
    }
    case 'body_failed':
      return itemFailed(body, entry.index, entry.error);
    case 'body_cancelled':
      return { ...body, stopped: body.stopped + 1 };
    case 'body_failing':
      return body;
  }
}

/** Ends a scope, or notes that it is failing. */
export function applyBodyEntry(draft: Draft, owner: StepState & { readonly body: BodyState }, entry: BodyEntry): void {
  const scope = scopeName(entry.path, entry.index);
  if (entry.kind === 'body_failing') {
    draft.steps.failScope(scope, entry.error);
    return;
  }
  const body = outcomeOf(draft, owner.body, entry);
  draft.steps.dropScope(scope);
  draft.steps.set({ ...owner, body });
}

/** What a step puts out that collects: a loop what its last iteration came to, a GATHER step the list of outputs. */
export function collected(draft: Draft, step: StepState, entry: Entry & { readonly kind: 'step_collected' }): Value {
  const body = draft.steps.get(entry.of)?.body;
  if (!body || openOf(body) > 0) {
    impossible('body-collect', `step ${step.path} of run ${draft.before.runId} collects of ${entry.of}`);
  }
  if (body.kind === 'loop') return valueOf(draft, body.source, entry.of);
  return gathered(body, entry.failed, entry.isTyped);
}
