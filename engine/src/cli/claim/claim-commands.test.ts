/** `ductor claim` and `ductor claim-queue`, against a whole node. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeCommands } from '../testing/node-commands.js';

const cli = nodeCommands();
const folder = mkdtempSync(join(tmpdir(), 'claims-'));

interface Named {
  readonly id: string;
}

describe('ductor claim', () => {
  it('makes queues, lists what waits in them, and takes, releases, completes and declines it', async () => {
    const made = await cli.done('claim-queue', 'create', 'pond', '--description', 'leads that nobody has');
    expect(made).toMatch(/^[0-9a-f-]{36} +pond +leads that nobody has$/m);
    expect(await cli.done('claim-queue', 'list')).toContain('pond');
    const queue = (await cli.json('claim-queue', 'get', 'pond', '--json')) as unknown as Named;
    const file = join(folder, 'pool.json');
    writeFileSync(file, JSON.stringify({ config: { routing_mode: 'claim', claim_queue_id: queue.id } }));
    await cli.done('pool', 'create', 'leads', '--file', file);
    const ana = (await cli.json(
      ...['recipient', 'create', 'leads', 'Ana', '--state', 'available', '--json'],
    )) as unknown as Named;
    const decision = await cli.json('route', 'send', 'lead-1', '--pool', 'leads', '--json');
    const item = String((decision as unknown as Record<string, unknown>)['claim_item_id']);
    expect(await cli.done('claim', 'list', 'pond', '--recipient', ana.id)).toMatch(/ OPEN .* 1 of 1 +lead-1$/m);
    const who = ['--recipient', ana.id];
    expect(await cli.done('claim', 'take', item, ...who)).toMatch(/ CLAIMED .* lead-1$/m);
    expect(await cli.done('claim', 'list', 'pond')).toContain('There is no such item.');
    expect(await cli.done('claim', 'release', item, ...who, '--reason', 'no time')).toMatch(/ OPEN /);
    await cli.done('claim', 'take', item, ...who);
    expect(await cli.done('claim', 'complete', item, ...who)).toMatch(/ COMPLETED /);
    const next = await cli.json('route', 'send', 'lead-2', '--pool', 'leads', '--json');
    const second = String((next as unknown as Record<string, unknown>)['claim_item_id']);
    expect(await cli.done('claim', 'decline', second, ...who)).toMatch(/ OPEN /);
  });
});
