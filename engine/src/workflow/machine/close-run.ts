/** Closes a run in which nothing is open any more. */
import { checkSize, ownFailure, tryPlan } from './failure.js';
import { sourceOf } from './start-steps.js';
import { emit, type Tick } from './tick.js';
import type { Value, ValueSource } from './value.js';

const OUTPUT = 'the output of the run';

/** A value as JSON text in bytes: as it stands when it is JSON, else told by its encoding and in base64. */
function asJson(value: Value): Uint8Array {
  if (value.encoding === 'json') return value.data;
  const data = Buffer.from(value.data.buffer, value.data.byteOffset, value.data.byteLength).toString('base64');
  return Buffer.from(JSON.stringify({ encoding: value.encoding, data }), 'utf8');
}

/** Outputs of completed steps without outgoing edges, by ref; put together from bytes, nothing is parsed. */
function defaultOutput(tick: Tick): Value {
  const parts: Uint8Array[] = [];
  for (const { ref, outgoing } of tick.plan.steps) {
    if (outgoing.length > 0) continue;
    const output = tick.draft.steps.get(ref)?.output ?? null;
    if (output === null) continue;
    parts.push(Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(ref)}:`, 'utf8'), asJson(output));
  }
  return { data: Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]), encoding: 'json' };
}

function runOutput(tick: Tick): ValueSource {
  const { output } = tick.plan;
  if (output !== null) return sourceOf(tick, output, OUTPUT);
  return { kind: 'value', value: checkSize(defaultOutput(tick), OUTPUT) };
}

/**
 * Closes the run when no step is open: as was decided before (asked to end, ended by a step or by its timeout,
 * failing), else COMPLETED.
 */
export function closeWhenDone(tick: Tick): void {
  const { draft } = tick;
  if (draft.steps.active() > 0 || draft.steps.waiting() > 0) return;
  if (draft.cancel !== null) {
    emit(tick, { kind: 'run_closed', status: 'CANCELLED', output: null, error: draft.error });
    return;
  }
  if (draft.ending !== null) {
    emit(tick, { kind: 'run_closed', status: draft.ending, output: draft.output, error: draft.error });
    return;
  }
  const output = draft.error === null ? tryPlan(() => runOutput(tick)) : null;
  if (output?.ok === true) {
    emit(tick, { kind: 'run_closed', status: 'COMPLETED', output: output.value, error: null });
    return;
  }
  if (output !== null) emit(tick, { kind: 'run_failing', error: ownFailure('', output.error, 'output: ') });
  emit(tick, { kind: 'run_closed', status: 'FAILED', output: null, error: draft.error });
}
