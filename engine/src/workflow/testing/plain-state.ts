/** States as plain JSON, to compare and to keep beside recorded histories. */
import { seenOf, type BodyState, type RunState, type SignalBox, type StepState } from '../machine/index.js';
import type { Value, ValueSource } from '../machine/index.js';

function plainValue(value: Value | null): unknown {
  if (value === null) return null;
  const { data, encoding } = value;
  return { encoding, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') };
}

function plainSource(source: ValueSource | null): unknown {
  return source?.kind === 'value' ? { kind: 'value', value: plainValue(source.value) } : source;
}

function plainStep(step: StepState): unknown {
  const { input, output, body, progress, taken } = step;
  const values = { input: plainSource(input), output: plainValue(output), progress: plainValue(progress) };
  const { subSteps: done, ...rest } = step;
  // Absent where there are none, as in states that were kept before there were any.
  const kept = done.map(({ name, output: value }) => ({ name, output: plainValue(value) }));
  return {
    ...rest,
    ...values,
    ...(kept.length === 0 ? {} : { subSteps: kept }),
    ...(taken ? { taken: { ...taken, payload: plainValue(taken.payload) } } : {}),
    body: body === null ? null : plainBody(body),
  };
}

function plainBody(body: BodyState): unknown {
  const outcomes = body.outcomes.map((chunk) =>
    chunk.map((outcome) => (outcome !== null && 'data' in outcome ? plainValue(outcome) : outcome)),
  );
  const plain = { ...body, source: plainSource(body.source), outcomes };
  // Compared as text, too, and a body out of a snapshot was put together in another order.
  return Object.fromEntries(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function plainBox({ answers, ...box }: SignalBox): unknown {
  // Absent where there are none, as in states that were kept before there were any.
  const kept = answers.map((answer) => ({ ...answer, output: plainValue(answer.output) }));
  return { ...box, seen: seenOf({ ...box, answers }), ...(kept.length === 0 ? {} : { answers: kept }) };
}

/** Everything that stands in a state, its kept sums included, as plain JSON that two equal states share. */
export function plainState(state: RunState): Readonly<Record<string, unknown>> {
  const { steps, signals } = state;
  return {
    ...state,
    input: plainValue(state.input),
    output: plainSource(state.output),
    attributes: { ...state.attributes },
    ...(signals === undefined ? {} : { signals: plainBox(signals) }),
    steps: Array.from(steps.values(), plainStep),
    active: steps.active,
    waiting: steps.waiting,
    bodies: steps.bodies,
    scopes: Array.from(steps.scopes.values()),
    nextDueUs: steps.nextDueUs,
    bytes: steps.bytes,
  };
}
