/** `ductor pool watch`, against a whole node. */
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/index.js';
import { capturedTerminal } from '../testing/captured-terminal.js';
import { nodeCommands } from '../testing/node-commands.js';
import { watchPool } from './watch.js';

const cli = nodeCommands();
beforeAll(async () => {
  await cli.done('pool', 'create', 'billing');
  await cli.done('recipient', 'create', 'billing', 'Ana', '--state', 'available', '--max-concurrent', '4');
  await cli.done('recipient', 'create', 'billing', 'Zoe', '--state', 'available', '--max-concurrent', '1');
  await cli.done('recipient', 'create', 'billing', 'Ben', '--state', 'available');
});

describe('ductor pool watch', () => {
  it('shows the load of each recipient, the fullest first, as it changes', async () => {
    const idle = await cli.done('pool', 'watch', 'billing', '--count', '1');
    expect(idle).toMatch(/^billing {2}ACTIVE {2}.*Z\n░{24} {2}0 of 5 units in use \(0 %\), 3 of 3 recipients/);
    const zoe = /Zoe +AVAILABLE +1 +([0-9a-f-]{36})|([0-9a-f-]{36})/;
    const listed = await cli.done('recipient', 'list', 'billing');
    const id = listed.split('\n').find((line) => line.startsWith('Zoe'));
    await cli.done('route', 'send', 'l-1', '--pool', 'billing', '--recipient', zoe.exec(id ?? '')?.[2] ?? '');
    const busy = await cli.done('pool', 'watch', 'billing', '--count', '1');
    expect(busy).toMatch(/^Zoe +AVAILABLE +█{24} +1 of 1 +1\nAna +AVAILABLE +░{24} +0 of 4 +0\nBen +AVAILABLE +0 +0$/m);
    const json = await cli.done('pool', 'watch', 'billing', '--count', '2', '--json');
    expect(json.trimEnd().split('\n')).toHaveLength(2);
    expect(JSON.parse(json.split('\n')[1] ?? '')).toMatchObject({ used_capacity: 1, total_capacity: 5 });
  });

  it('redraws in place where a person looks on, and stops when told', async () => {
    const terminal = capturedTerminal({ isLive: true });
    const context = { env: cli.env, terminal, clock: systemClock(), fail: () => undefined };
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    const watching = watchPool(context, 'billing', {}, stopped);
    await expect.poll(() => terminal.written().split('\u001b[J').length, { timeout: 10_000 }).toBeGreaterThan(2);
    stop();
    await watching;
    expect(terminal.written()).toMatch(/\u001b\[6A\r\u001b\[J/);
  });

  it('says that there is no such pool', async () => {
    expect(await cli.run('pool', 'watch', 'nobody')).toMatchObject({
      ...{ code: 1, out: '', err: expect.stringContaining('there is no pool "nobody"') },
    });
  });
});
