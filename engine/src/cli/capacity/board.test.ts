/** `ductor capacity board`, against a whole node. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../kernel/index.js';
import { capturedTerminal } from '../testing/captured-terminal.js';
import { nodeCommands } from '../testing/node-commands.js';
import { watchBoard } from './board.js';

const cli = nodeCommands();
let [parent, child] = ['', ''];

const select = (pool: string) => ({ ref: 'buyers', type: 'STEP_TYPE_SELECT', args: { pool } });
const signal = { ref: 'done', type: 'STEP_TYPE_SIGNAL', args: { name: 'done' } };

beforeAll(async () => {
  const { node, tenantId } = cli;
  await cli.done('pool', 'create', 'billing');
  await cli.done('recipient', 'create', 'billing', 'Ana', '--state', 'available', '--max-concurrent', '4');
  await cli.done('pool', 'create', 'sales');
  await cli.done('recipient', 'create', 'sales', 'Ben', '--state', 'available');
  const edges = [{ source_ref: 'buyers', target_ref: 'done', type: 'EDGE_TYPE_SUCCESS' }];
  await node.registry.register(tenantId, { family_slug: 'leaf', steps: [select('billing'), signal], edges });
  const below = { ref: 'below', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: 'leaf' }, input: {} };
  await node.registry.register(tenantId, { family_slug: 'tree', steps: [below] });
  parent = String((await cli.json('run', 'trigger', 'tree', '--json'))['id']);
  await cli.done('route', 'send', 'lead-7', '--pool', 'billing');
  const leaf = async (): Promise<string> =>
    JSON.stringify(await cli.json('run', 'list', '--workflow', 'leaf', '--json'));
  await vi.waitUntil(async () => (await leaf()).includes('RUN_STATE_WAITING'), { timeout: 20_000 });
  child = /"id":"([0-9a-f-]{36})"/.exec(await leaf())?.[1] ?? '';
}, 60_000);

describe('ductor capacity board', () => {
  it('shows limit, held, committed, free and the day, who has it, and the command that shows more', async () => {
    const board = await cli.done('capacity', 'board');
    expect(board).toMatch(/^POOL +RECIPIENT +STATE +LIMIT +HELD +COMMITTED +FREE +TODAY +HELD BY$/m);
    expect(board).toMatch(/^billing +Ana +AVAILABLE +4 +1 +1 +2 +2 +1 unit for .+$/m);
    expect(board).toMatch(/^sales +Ben +AVAILABLE +none +0 +0 +no limit +0$/m);
    expect(board).toContain(`by step buyers, in the family of ${parent}: ductor run show ${child}`);
    const assignment = /by lead-7: ductor (assignment get [0-9a-f-]{36})/.exec(board)?.[1] ?? '';
    expect(await cli.done(...assignment.split(' '))).toContain('lead-7');
    expect(await cli.done('run', 'show', child)).toContain('leaf');
  });

  it('shows one pool, a page at a time, as JSON', async () => {
    const one = await cli.done('capacity', 'board', '--pool', 'sales');
    expect(one).toContain('Ben');
    expect(one).not.toContain('Ana');
    expect(await cli.json('capacity', 'board', '--pool', 'billing', '--json')).toMatchObject({
      data: [{ limit: 4, held: 1, committed: 1, free: 2, used_today: 2, holder_count: 2, daily_limit: 0 }],
    });
    const first = await cli.run('capacity', 'board', '--limit', '1');
    expect(first.out).not.toContain('Ben');
    const cursor = /--cursor (\S+)\)/.exec(first.err)?.[1] ?? '';
    expect(await cli.done('capacity', 'board', '--limit', '1', '--cursor', cursor)).toContain('Ben');
    expect(await cli.run('capacity', 'board', '--pool', 'sales', '--cursor', cursor)).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('pagination.cursor') },
    });
    expect((await cli.run('capacity', 'board', '--pool', 'nobody')).err).toContain('there is no pool "nobody"');
  });

  it('shows it again while it is watched, in place where a person looks on, until it is told to stop', async () => {
    const lines = await cli.done('capacity', 'board', '--watch', '--count', '2', '--json');
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { data: object[] }).data.length),
    ).toEqual([2, 2]);
    const terminal = capturedTerminal({ isLive: true });
    const context = { env: cli.env, terminal, clock: systemClock(), fail: () => undefined };
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    const watching = watchBoard(context, { limit: 50 }, stopped);
    await expect.poll(() => terminal.written().split('\u001b[J').length, { timeout: 20_000 }).toBeGreaterThan(2);
    stop();
    await watching;
    expect(terminal.written()).toMatch(/\u001b\[\d+A\r\u001b\[J/);
  });

  it('shows what was held as free once the run and all below it have ended', async () => {
    await cli.done('run', 'signal', child, 'done');
    const board = (): Promise<string> => cli.done('capacity', 'board', '--pool', 'billing');
    await expect.poll(board, { timeout: 20_000 }).toMatch(/^billing +Ana +AVAILABLE +4 +0 +1 +3 +2 /m);
  });
});
