/** Closes a run in which nothing is open any more. */
import { compensate } from './compensate.js';
import { isEndDecided } from './draft.js';
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

/** Whether nothing is open any more. */
function isQuiet({ draft }: Tick): boolean {
  return draft.steps.active() === 0 && draft.steps.waiting() === 0;
}

/** Closes a run of which it is decided how it ends. */
function closeAsDecided(tick: Tick): void {
  const { draft } = tick;
  if (draft.cancel !== null) {
    emit(tick, { kind: 'run_closed', status: 'CANCELLED', output: null, error: draft.error });
  } else if (draft.ending !== null) {
    emit(tick, { kind: 'run_closed', status: draft.ending, output: draft.output, error: draft.error });
  } else {
    emit(tick, { kind: 'run_closed', status: 'FAILED', output: null, error: draft.error });
  }
}

/**
 * Closes the run when no step is open: as was decided before (asked to end, ended by a step or by its timeout,
 * failing), else COMPLETED. A run that does not complete is compensated first.
 */
export function closeWhenDone(tick: Tick): void {
  if (!isQuiet(tick)) return;
  if (!isEndDecided(tick.draft)) {
    const output = tryPlan(() => runOutput(tick));
    if (output.ok) return emit(tick, { kind: 'run_closed', status: 'COMPLETED', output: output.value, error: null });
    emit(tick, { kind: 'run_failing', error: ownFailure('', output.error, 'output: ') });
  }
  compensate(tick);
  if (isQuiet(tick)) closeAsDecided(tick);
}
