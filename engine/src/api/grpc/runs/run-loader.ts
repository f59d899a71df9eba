/**
 * Loads runs, many with one query: what is asked for in one turn of the event loop is read together.
 *
 * Invariant: what is answered was read after it was asked for, so that a caller sees what it did before.
 */
import { impossible, type Clock } from '../../../kernel/index.js';
import { loadRun, type RunKey, type RunReader, type RunState, type StoredRun } from '../ports.js';
import { wholeRun } from './whole-values.js';

/**
 * A run, its input and output whole; undefined when the tenant has none of this id. Throws database_unavailable,
 * internal.
 */
export type RunLoader = (key: RunKey) => Promise<RunState | undefined>;

const MAX_BATCH = 100;

interface Asked {
  readonly key: RunKey;
  readonly resolve: (state: RunState | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The state of a stored run; of one whose snapshot is unreadable from its first row on. Large values are absent. */
export async function stateOf(reader: Pick<RunReader, 'history'>, stored: StoredRun): Promise<RunState> {
  const state = loadRun(stored);
  if (state !== null) return state;
  const rows: StoredRun['rows'][number][] = [];
  for (let page = await reader.history(stored, 0, 1_000); page.length > 0;) {
    rows.push(...page);
    page = await reader.history(stored, page.at(-1)?.seq ?? 0, 1_000);
  }
  const whole = loadRun({ ...stored, snapshot: null, rows });
  return whole ?? impossible('unreadable-without-snapshot', `run ${stored.runId} has no snapshot and cannot be read`);
}

/** A loader on this reader. */
export function runLoader(reader: Pick<RunReader, 'getMany' | 'history' | 'payloads'>, clock: Clock): RunLoader {
  let gathering: Asked[] = [];

  const answer = async ({ key, resolve, reject }: Asked, found: ReadonlyMap<string, StoredRun>): Promise<void> => {
    const stored = found.get(`${key.tenantId}/${key.runId}`);
    try {
      const state = stored === undefined ? undefined : await stateOf(reader, stored);
      resolve(state === undefined ? undefined : await wholeRun(reader, state, ['input', 'output']));
    } catch (error) {
      reject(error);
    }
  };
  const read = async (asked: readonly Asked[]): Promise<void> => {
    try {
      const keys = new Map(asked.map(({ key }) => [`${key.tenantId}/${key.runId}`, key]));
      const stored = await reader.getMany([...keys.values()]);
      const found = new Map(stored.map((run) => [`${run.tenantId}/${run.runId}`, run]));
      await Promise.all(asked.map((one) => answer(one, found)));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };
  const flush = (): void => {
    const asked = gathering;
    gathering = [];
    for (let at = 0; at < asked.length; at += MAX_BATCH) void read(asked.slice(at, at + MAX_BATCH));
  };
  return (key) =>
    new Promise((resolve, reject) => {
      if (gathering.length === 0) clock.defer(flush);
      gathering.push({ key, resolve, reject });
    });
}
