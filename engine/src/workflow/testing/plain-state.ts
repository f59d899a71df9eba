/** States as plain JSON, to compare and to keep beside recorded histories. */
import type { RunState, StepState, Value, ValueSource } from '../machine/index.js';

function plainValue(value: Value | null): unknown {
  if (value === null) return null;
  const { data, encoding } = value;
  return { encoding, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') };
}

function plainSource(source: ValueSource | null): unknown {
  return source?.kind === 'value' ? { kind: 'value', value: plainValue(source.value) } : source;
}

function plainStep(step: StepState): unknown {
  return { ...step, input: plainSource(step.input), output: plainValue(step.output) };
}

/** Everything that stands in a state, its kept sums included, as plain JSON that two equal states share. */
export function plainState(state: RunState): Readonly<Record<string, unknown>> {
  const { steps } = state;
  return {
    ...state,
    input: plainValue(state.input),
    output: plainSource(state.output),
    attributes: { ...state.attributes },
    steps: Array.from(steps.values(), plainStep),
    active: steps.active,
    waiting: steps.waiting,
    nextDueUs: steps.nextDueUs,
    bytes: steps.bytes,
  };
}
