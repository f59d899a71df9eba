/** `ductor rule` and `ductor assignment`, against a whole node. */
import { beforeAll, describe, expect, it } from 'vitest';
import { nodeCommands } from '../testing/node-commands.js';

const cli = nodeCommands();
beforeAll(async () => {
  await cli.done('pool', 'create', 'billing');
  await cli.done('recipient', 'create', 'billing', 'Ana', '--state', 'available', '--max-concurrent', '1');
});

describe('ductor rule', () => {
  it('creates, lists, changes, reorders and deletes, by name', async () => {
    const made = await cli.done('rule', 'create', 'leads', '--when', 'routable.type == "lead"', '--pool', 'billing');
    expect(made).toMatch(/^0 +leads +route to [0-9a-f-]{36} +0 +[0-9a-f-]{36} +routable\.type == "lead"$/m);
    expect(await cli.done('rule', 'get', 'leads')).toBe(made);
    await cli.done(
      'rule',
      'create',
      'spam',
      '--when',
      'routable.type == "spam"',
      '--action',
      'drop',
      '--priority',
      '5',
    );
    expect(await cli.done('rule', 'reorder', 'spam', 'leads')).toMatch(/^10 +spam +drop .*\n20 +leads /m);
    expect(await cli.done('rule', 'list')).toMatch(/^10 +spam +drop .*\n20 +leads /m);
    const off = await cli.json('rule', 'update', 'spam', '--no-enabled', '--no-stop', '--priority', '-3', '--json');
    expect(off).toMatchObject({ name: 'spam', enabled: false, stop: false, priority: -3, action: 'drop' });
    expect(await cli.done('rule', 'list')).toMatch(/^-3 +spam +nothing: it is off /m);
    const named = await cli.json('rule', 'update', 'spam', '--name', 'junk', '--json');
    expect(named).toMatchObject({ name: 'junk', enabled: false, stop: false, priority: -3 });
    expect(await cli.done('rule', 'delete', 'junk')).toMatch(/^deleted junk \(/);
    expect(await cli.done('route', 'preview', 'l-1', '--type', 'lead')).toContain('✓ rule leads\n');
  });

  it.each<[string[], number, string]>([
    [['create', 'bad', '--when', 'routable.typo == 1', '--action', 'drop'], 1, 'typo'],
    [['create', 'bad', '--when', 'true', '--pool', 'nobody'], 1, 'there is no pool "nobody"'],
    [['update', 'leads'], 1, 'nothing is to change'],
    [['update', 'nobody', '--priority', '1'], 1, 'there is no rule "nobody"'],
    [['reorder', 'leads', 'leads'], 1, 'rule_ids'],
    [['create', 'bad', '--action', 'juggle'], 2, 'route, drop, hold'],
  ])('%j is refused', async (line, code, said) => {
    expect(await cli.run('rule', ...line)).toMatchObject({ code, out: '', err: expect.stringContaining(said) });
  });
});

describe('ductor assignment', () => {
  const assigned = async (work: string): Promise<string> => {
    const { err } = await cli.run('route', 'send', work, '--pool', 'billing');
    return /[0-9a-f-]{36}/.exec(err)?.[0] ?? err;
  };

  it('lists, completes and releases', async () => {
    const first = await assigned('l-1');
    const active = await cli.done('assignment', 'list', '--pool', 'billing', '--state', 'active');
    expect(active).toMatch(new RegExp(`^${first} +ACTIVE +1 .* l-1$`, 'm'));
    expect(await cli.done('assignment', 'complete', first)).toMatch(/COMPLETED/);
    expect(await cli.json('assignment', 'get', first, '--json')).toMatchObject({ id: first, routable_id: 'l-1' });
    const second = await assigned('l-2');
    expect(await cli.json('assignment', 'release', second, '--reason', 'gone', '--json')).toMatchObject({
      ...{ id: second, state: 'ASSIGNMENT_STATE_RELEASED' },
    });
    expect(await cli.done('assignment', 'list', '--state', 'active')).toBe('There is no such assignment.\n');
  });

  it('accepts, confirms and declines offers', async () => {
    const path = cli.file('offers.json', '{"config": {"requires_acceptance": true}}');
    await cli.done('pool', 'update', 'billing', '--file', path);
    const declined = await assigned('l-3');
    expect(await cli.done('assignment', 'list', '--state', 'offered')).toContain(declined);
    expect(await cli.done('assignment', 'decline', declined, '--reason', 'lunch')).toContain('DECLINED');
    const accepted = await assigned('l-4');
    expect(await cli.done('assignment', 'accept', accepted)).toContain('ACTIVE');
    await cli.done('assignment', 'complete', accepted);
    const confirmed = await assigned('l-5');
    expect(await cli.done('assignment', 'confirm', confirmed)).toContain('ACTIVE');
  });

  it('says what is wrong', async () => {
    expect((await cli.run('assignment', 'accept', 'x')).err).toContain('is not a UUID');
    const nobody = '0198c1d2-0000-7000-8000-000000000000';
    expect((await cli.run('assignment', 'complete', nobody)).err).toContain('[not_found]');
    expect(await cli.run('assignment', 'complete', nobody, '--reason', 'x')).toMatchObject({ code: 2 });
  });
});
