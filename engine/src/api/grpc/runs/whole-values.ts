/** Large values of runs, loaded when they are shown. */
import { DuctorError } from '../../../kernel/index.js';
import {
  runOutput,
  stepTable,
  type PayloadKey,
  type RunKey,
  type RunReader,
  type RunState,
  type Value,
} from '../ports.js';

/** Reads large values. */
export type PayloadReader = Pick<RunReader, 'payloads'>;

/** Bytes of large values of a run by digest, those that exist. Throws database_unavailable. */
export async function readPayloads(
  reader: PayloadReader,
  { tenantId, runId }: RunKey,
  refs: readonly Pick<PayloadKey, 'digest' | 'size'>[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (refs.length === 0) return new Map();
  const found = await reader.payloads(refs.map(({ digest, size }) => ({ tenantId, runId, digest, size })));
  return new Map(found.map(({ digest, data }) => [digest, data]));
}

/** A value with its bytes. Throws internal when they are missing. */
export function wholeValue({ encoding, absent, data }: Value, payloads: ReadonlyMap<string, Uint8Array>): Value {
  if (absent === undefined) return { data, encoding };
  const loaded = payloads.get(absent.digest);
  if (loaded !== undefined) return { data: loaded, encoding };
  throw new DuctorError('internal', `stored data is unreadable [payload]: ${absent.digest} of a run is missing`);
}

/**
 * The run with these of its values whole; the values of its steps stay as they are.
 *
 * Throws database_unavailable, internal when a value is missing.
 */
export async function wholeRun(
  reader: PayloadReader,
  state: RunState,
  parts: readonly ('input' | 'output')[],
): Promise<RunState> {
  const output = parts.includes('output') ? runOutput(state) : null;
  const input = parts.includes('input') ? state.input : null;
  const refs = [input?.absent, output?.absent].filter((ref) => ref !== undefined);
  if (refs.length === 0) return state;
  const payloads = await readPayloads(reader, state, refs);
  return {
    ...state,
    ...(input === null ? {} : { input: wholeValue(input, payloads) }),
    ...(output === null ? {} : { output: { kind: 'value', value: wholeValue(output, payloads) } }),
  };
}

/**
 * The run with the outputs of these of its steps whole.
 *
 * Throws database_unavailable, internal when a value is missing.
 */
export async function withOutputs(reader: PayloadReader, state: RunState, paths: readonly string[]): Promise<RunState> {
  const refs = paths.flatMap((path) => state.steps.get(path)?.output?.absent ?? []);
  if (refs.length === 0) return state;
  const payloads = await readPayloads(reader, state, refs);
  const steps = Array.from(state.steps.values(), (step) =>
    step.output !== null && paths.includes(step.path) ? { ...step, output: wholeValue(step.output, payloads) } : step,
  );
  return { ...state, steps: stepTable(steps, state.steps.scopes.values()) };
}
