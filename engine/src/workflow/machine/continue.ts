/**
 * A run that continues as new: it ends, and its successor begins with the input that the step computed.
 *
 * 1. The step decides the end like a COMPLETE step does: whatever is under way is stopped, and the successor begins in
 *    the row that closes the run, so that one of the two is always open. A cancel that comes before that ends both.
 * 2. The successor is in the shard of the run, and of its family; to its parent the two are one child.
 * 3. What the run received and no step took, its successor has; so are the ids of signals, which are received once in
 *    a chain.
 * 4. Its first row says only that it started; its steps begin with the next tick. So a workflow that does nothing but
 *    continue costs two commits a turn and holds nobody up.
 */
import { DuctorError, impossible, shardOf } from '../../kernel/index.js';
import { emptyRun } from './draft.js';
import type { Entry } from './entries.js';
import { fold } from './fold.js';
import type { Plan, PlanStep } from './plan.js';
import { valueOf } from './resolve-source.js';
import { sourceOf } from './source-of.js';
import type { ChainLink } from './state.js';
import { stopAll } from './tell-to-stop.js';
import { emit, type Place, type Tick } from './tick.js';
import { storableUs } from './timestamp.js';

/** The version that the successor executes. */
function planOfNext({ plan, current }: Tick, step: PlanStep & { readonly type: 'CONTINUE_AS_NEW' }): Plan {
  return step.isCurrent ? (current ?? plan) : plan;
}

/**
 * A CONTINUE_AS_NEW step: the run ends once what is under way has ended. Throws what its input throws, and
 * invalid_argument when the version that goes on does not allow it.
 */
export function continueAsNew(
  tick: Tick,
  step: PlanStep & { readonly type: 'CONTINUE_AS_NEW' },
  place: Place,
  path: string,
): void {
  const { version, timeoutMs, checkInput } = planOfNext(tick, step);
  const source = sourceOf(tick, place, step.input, `the input with which step ${path} continues`);
  const output = valueOf(tick.draft, source, path);
  const [problem] = checkInput(output);
  if (problem !== undefined) {
    const message = `version ${version} of ${tick.plan.familySlug} does not allow the input: ${problem}`;
    throw new DuctorError('invalid_argument', message);
  }
  emit(tick, { kind: 'step_completed', path, attempt: 0, output });
  const timeoutUs = timeoutMs === null ? null : timeoutMs * 1000;
  emit(tick, { kind: 'run_continuing', input: { kind: 'stepOutput', path }, version, timeoutUs });
  stopAll(tick);
}

/** Where the successor of the run stands in its chain. */
function nextLink({ plan, draft: { chain, before } }: Tick): ChainLink {
  const link = { chainId: chain?.chainId ?? before.runId, previousId: before.runId, no: (chain?.no ?? 1) + 1 };
  return plan.selects || chain?.mayHold === true ? { ...link, mayHold: true } : link;
}

/** Closes a run that continues, and begins its successor. */
export function closeContinued(tick: Tick): void {
  const { draft, nowUs } = tick;
  const { before, familySlug, attributes, traceparent, family, runKey } = draft;
  const next = draft.continuing ?? impossible('continuing', `run ${before.runId} continues with nothing`);
  const runId = tick.newId(shardOf(before.runId));
  const start: Entry = {
    kind: 'run_started',
    ...{ familySlug, version: next.version, input: valueOf(draft, next.input, ''), attributes },
    deadlineUs: next.timeoutUs === null ? null : storableUs(nowUs + next.timeoutUs),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(runKey === undefined ? {} : { runKey }),
    ...(family === null ? {} : { family }),
    chain: nextLink(tick),
    ...(draft.signals.seen.size === 0 ? {} : { signals: draft.signals }),
  };
  emit(tick, { kind: 'run_closed', status: 'CONTINUED', output: null, error: null, successorId: runId });
  const empty = emptyRun({ tenantId: before.tenantId, runId });
  tick.successor = { entries: [start], state: fold(empty, [start], { seq: 1, atUs: nowUs }) };
}
