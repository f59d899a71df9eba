import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../../kernel/index.js';
import { manualClock } from '../../../kernel/testing/manual-clock.js';
import { encodeEntries, payloadSink } from '../../../workflow/journal/index.js';
import { NULL_VALUE, type RunHeader, type RunKey, type StoredRun } from '../ports.js';
import { runLoader } from './run-loader.js';

const started = {
  kind: 'run_started',
  ...{ familySlug: 'flow', version: 1, input: NULL_VALUE, attributes: {}, deadlineUs: null },
} as const;
const closed = { kind: 'run_closed', status: 'COMPLETED', output: null, error: null } as const;

function stored(key: RunKey, parts: Partial<StoredRun> = {}): StoredRun {
  const header: RunHeader = {
    ...key,
    shard: 0,
    familySlug: 'flow',
    version: 1,
    status: 'RUNNING',
    active: true,
    wakeAtUs: null,
    startedAtUs: 1,
    closedAtUs: null,
    attributes: {},
    rootId: null,
    parentId: null,
    chain: null,
  };
  const rows = [{ seq: 1, atUs: 1, entries: encodeEntries([started]) }];
  return { ...key, header, snapshot: null, rows, ...parts };
}

const keyOf = (run: number): RunKey => ({ tenantId: 't', runId: `r${run}` });

describe('runLoader', () => {
  it('reads what is asked for in one turn with one query, and a key that is asked for twice once', async () => {
    const clock = manualClock();
    const asked: number[] = [];
    const load = runLoader(
      {
        getMany: (keys) => {
          asked.push(keys.length);
          return Promise.resolve(keys.filter(({ runId }) => runId !== 'r2').map((key) => stored(key)));
        },
        payloads: () => expect.fail(),
        history: () => expect.fail(),
      },
      clock,
    );
    const loading = [keyOf(1), keyOf(1), keyOf(2), keyOf(3)].map((key) => load(key));
    clock.settle();
    const states = await Promise.all(loading);
    expect(states.map((state) => state?.runId)).toEqual(['r1', 'r1', undefined, 'r3']);
    expect(asked).toEqual([3]);
  });

  it('tells each of a failure, and of a run that cannot be read only those who asked for it', async () => {
    const clock = manualClock();
    let isAway = true;
    const load = runLoader(
      {
        getMany: (keys) =>
          isAway
            ? Promise.reject(new DuctorError('database_unavailable', 'gone'))
            : Promise.resolve(
                keys.map((key) =>
                  stored(key, key.runId === 'r1' ? { rows: [{ seq: 1, atUs: 1, entries: Buffer.from([8, 99]) }] } : {}),
                ),
              ),
        payloads: () => expect.fail(),
        history: () => Promise.resolve([]),
      },
      clock,
    );
    const both = async (): Promise<string[]> => {
      const loading = Promise.allSettled([load(keyOf(1)), load(keyOf(2))]);
      clock.settle();
      return (await loading).map(({ status }) => status);
    };
    expect(await both()).toEqual(['rejected', 'rejected']);
    isAway = false;
    expect(await both()).toEqual(['rejected', 'fulfilled']);
  });

  it('reads a run whose snapshot is of an unknown format from its first row', async () => {
    const clock = manualClock();
    const rows = [started, closed].map((entry, at) => ({ seq: at + 1, atUs: at + 1, entries: encodeEntries([entry]) }));
    const load = runLoader(
      {
        getMany: (keys) =>
          Promise.resolve(
            keys.map((key) => stored(key, { snapshot: { seq: 1, data: Buffer.from([8, 99]) }, rows: rows.slice(1) })),
          ),
        payloads: () => expect.fail(),
        history: (_, afterSeq) => Promise.resolve(rows.filter(({ seq }) => seq > afterSeq)),
      },
      clock,
    );
    const loading = load(keyOf(1));
    clock.settle();
    expect(await loading).toMatchObject({ status: 'COMPLETED', seq: 2 });
  });

  it('gives input and output whole, asking for both at once, and says when one is lost', async () => {
    const clock = manualClock();
    const large = { data: Buffer.from(JSON.stringify('x'.repeat(100_000))), encoding: 'json' };
    const sink = payloadSink('r1');
    const rows = [{ ...started, input: large }, closed].map((entry, at) => ({
      seq: at + 1,
      atUs: at + 1,
      entries: encodeEntries([entry], sink),
    }));
    const kept = [...sink.writes.values()].map(({ digest, data }) => ({
      ...keyOf(1),
      digest: Buffer.from(digest).toString('hex'),
      data,
    }));
    const asked: (readonly string[])[] = [];
    const load = runLoader(
      {
        getMany: (keys) => Promise.resolve(keys.map((key) => stored(key, { rows }))),
        payloads: (keys) => {
          asked.push(keys.map(({ digest }) => digest));
          return Promise.resolve(keys.flatMap(({ runId }) => (runId === 'r1' ? kept : [])));
        },
        history: () => expect.fail(),
      },
      clock,
    );
    const loading = [load(keyOf(1)), load(keyOf(2))];
    clock.settle();
    expect(await loading[0]).toMatchObject({ input: large });
    await expect(loading[1]).rejects.toMatchObject({ code: 'internal' });
    expect(asked).toEqual([kept.map(({ digest }) => digest), kept.map(({ digest }) => digest)]);
  });
});
