/** Many runs at once, through the SDK and the command line, on a whole node. */
import { DuctorClient, type BatchProgress } from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { runProgram } from '../../engine/src/cli/program.js';
import { capturedTerminal } from '../../engine/src/cli/testing/captured-terminal.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';

const database = testDatabase();
let node: TestNode;
let client: DuctorClient;
let env: Record<string, string>;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey, tenantId } = await node.tenant('batches');
  const wait = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
  const { id } = await node.registry.create(tenantId, { family_slug: 'waits', steps: [wait] });
  await node.registry.publish(tenantId, id, 0);
  const divide = {
    ref: 'divide',
    type: 'STEP_TYPE_DATAFLOW',
    args: { operation: 'project', project: { n: '1 / int(input.by)' } },
  };
  const dividing = await node.registry.create(tenantId, { family_slug: 'divides', steps: [divide] });
  await node.registry.publish(tenantId, dividing.id, 0);
  client = new DuctorClient({ engine: node.address, apiKey });
  env = { DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey };
});
afterAll(async () => {
  client.close();
  await node.stop();
});

async function start(count: number, which: string): Promise<readonly string[]> {
  const runs = Array.from({ length: count }, () => client.trigger('waits', null, { attributes: { which } }));
  return (await Promise.all(runs)).map(({ id }) => id);
}

async function ductor(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  const terminal = capturedTerminal();
  const code = await runProgram(['node', 'ductor', 'run', ...line], env, terminal);
  return { code, out: terminal.written(), err: terminal.complained() };
}

const states = async (ids: readonly string[]): Promise<readonly string[]> =>
  Promise.all(ids.map(async (id) => (await client.get(id)).state));

describe('a batch through the SDK', () => {
  it('is previewed, carried out page by page, and goes on after a page', async () => {
    const ids = await start(3, 'sdk');
    const filter = { attributes: { which: 'sdk' } };
    const { matched, sample, confirmation } = await client.batches.preview('PAUSE', filter);
    expect([matched, sample.length]).toEqual([3, 3]);
    const pages: BatchProgress[] = [];
    for await (const page of client.batches.run('PAUSE', filter, { confirmation, pageSize: 2 })) {
      pages.push(page);
      break;
    }
    const [first] = pages;
    expect(first).toMatchObject({ done: 2, failures: [] });
    const cursor = first?.nextCursor ?? '';
    for await (const page of client.batches.run('PAUSE', filter, { confirmation, cursor })) pages.push(page);
    expect(pages.slice(1)).toEqual([{ done: 1, skipped: 0, failures: [], nextCursor: undefined }]);
    await expect.poll(() => states(ids)).toEqual(['PAUSED', 'PAUSED', 'PAUSED']);
    expect(await client.batches.deadLetters()).toEqual([]);
  });

  it('is refused before it is sent where its words are none', async () => {
    await expect(client.batches.preview('END' as 'CANCEL')).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(client.batches.preview('CANCEL', { status: 'RUNNING' } as object)).rejects.toThrow('no option');
  });
});

describe('runs that have ended', () => {
  it('are tried again by new ones, each once, through the SDK, over REST and from the command line', async () => {
    const runs = await Promise.all([0, 0].map((by) => client.trigger('divides', { by })));
    for (const run of runs) await expect(run.result()).rejects.toMatchObject({ code: 'expression_failed' });
    const filter = { state: 'FAILED', workflow: 'divides' } as const;
    const { matched, confirmation } = await client.batches.preview('RETRY', filter);
    expect(matched).toBe(2);
    const pages: BatchProgress[] = [];
    for await (const page of client.batches.run('RETRY', filter, { confirmation })) pages.push(page);
    expect(pages).toEqual([{ done: 2, skipped: 0, failures: [], nextCursor: undefined }]);
    const found = async (): Promise<number> => (await client.batches.preview('RETRY', filter)).matched;
    await expect.poll(found, { timeout: 20_000 }).toBe(4);
    const answer = await fetch(`http://${node.address}/api/runs:batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env['DUCTOR_API_KEY']}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        action: 'BATCH_ACTION_RETRY',
        filter: { state: 'RUN_STATE_FAILED', family_slug: 'divides' },
      }),
    });
    expect(await answer.json()).toMatchObject({ data: { matched: 4, confirmation: expect.any(String) } });
    const line = ['batch', 'retry', '--state', 'failed', '--workflow', 'divides'];
    expect((await ductor(...line)).out).toContain('4 runs');
    const done = await ductor(...line, '--yes');
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('2 done, 2 skipped, 0 failed')]);
  });
});

describe('a batch from the command line', () => {
  it('shows what it would change, and changes it with --yes', async () => {
    const ids = await start(2, 'cli');
    const line = ['batch', 'cancel', '--attribute', 'which=cli'];
    const shown = await ductor(...line);
    expect(shown).toMatchObject({ code: 0, err: expect.stringContaining('add --yes') });
    expect(shown.out).toContain('2 runs');
    expect(await states(ids)).toEqual(['WAITING', 'WAITING']);
    const done = await ductor(...line, '--yes', '--reason', 'wrong price');
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('2 done, 0 skipped, 0 failed')]);
    await expect.poll(() => states(ids)).toEqual(['CANCELLED', 'CANCELLED']);
    expect(await ductor('dead-letters')).toMatchObject({ code: 0, out: 'No run is parked.\n' });
    expect(await ductor('batch', 'finish')).toMatchObject({
      code: 1,
      err: expect.stringContaining('cancel, terminate'),
    });
  });
});
