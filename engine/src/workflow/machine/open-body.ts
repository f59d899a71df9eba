/** Opens bodies, and collects what came of them. */
import { DuctorError } from '../../kernel/index.js';
import { fitsOneList, gathered } from './body-state.js';
import { checkSize, MAX_VALUE_BYTES } from './failure.js';
import { countItems } from './list.js';
import { pathIn } from './path.js';
import type { PlanStep } from './plan.js';
import { isEnded } from './resolve-edges.js';
import { valueOf } from './resolve-source.js';
import { sourceOf } from './source-of.js';
import { emit, type Place, type Tick } from './tick.js';
import { TYPED_ENCODING } from './typed-json.js';
import { LARGE_BYTES } from './value.js';

/** Items one scatter may have. */
const MAX_ITEMS = 100_000;

/** Looks at the list and begins to run the body for its items. */
export function openScatter(
  tick: Tick,
  step: PlanStep & { readonly type: 'SCATTER' },
  place: Place,
  path: string,
): void {
  const source = sourceOf(tick, place, step.items, `the list of step ${path}`);
  const count = countItems(valueOf(tick.draft, source, path), `args.items of step ${path}`);
  if (count > MAX_ITEMS) {
    throw new DuctorError('limit_exceeded', `step ${path} has ${count} items; the limit is ${MAX_ITEMS}`, {
      remedy: 'Scatter over parts of the list, each in a run or a body of its own.',
    });
  }
  emit(tick, { kind: 'step_opened', path, body: 'scatter', source, count, keeps: step.keeps });
  tick.owners.add(path);
}

/** Begins to run the body again and again. */
export function openLoop(tick: Tick, step: PlanStep & { readonly type: 'LOOP' }, place: Place, path: string): void {
  const source = sourceOf(tick, place, step.vars, `the vars of step ${path}`);
  emit(tick, { kind: 'step_opened', path, body: 'loop', source, count: step.maxIterations, keeps: false });
  tick.owners.add(path);
}

/** Collects the outputs of a scatter. One that was skipped or stopped has none. */
export function gather(tick: Tick, step: PlanStep & { readonly type: 'GATHER' }, place: Place, path: string): void {
  const of = pathIn(place.scope, step.of);
  const scatter = tick.draft.steps.get(of);
  const body = scatter?.body;
  if (!body || !isEnded(scatter.status)) {
    const why = `step ${of} has not ended or ran nothing`;
    throw new DuctorError('expression_failed', `step ${path} has nothing to collect: ${why}`);
  }
  if (!fitsOneList(body)) {
    const limit = `the limit of one value is ${MAX_VALUE_BYTES}`;
    throw new DuctorError('value_too_large', `the outputs that step ${path} collects have more bytes: ${limit}`);
  }
  const output = checkSize(gathered(body, step.failed, true), `the list that step ${path} collects`);
  // Readers that do not load large values cannot put a list together of them: a large one stands in the journal.
  if (output.data.byteLength > LARGE_BYTES) emit(tick, { kind: 'step_completed', path, attempt: 0, output });
  else {
    const isTyped = output.encoding === TYPED_ENCODING;
    emit(tick, { kind: 'step_collected', path, of, failed: step.failed, isTyped });
  }
  tick.ended.push(path);
}
