/** `ductor pool` and `ductor recipient`, against a whole node. */
import { describe, expect, it } from 'vitest';
import { nodeCommands } from '../testing/node-commands.js';

const cli = nodeCommands();
const file = (name: string, json: unknown): string => cli.file(name, JSON.stringify(json));

describe('ductor pool', () => {
  it('creates, changes, switches off and on, lists and deletes, by name', async () => {
    const made = await cli.done('pool', 'create', 'billing', '--strategy', 'least_loaded', '--metadata', 'team=a');
    expect(made).toMatch(/^billing {2}ACTIVE {2}[0-9a-f-]{36}$/m);
    expect(made).toMatch(/chooses by +least_loaded\n/);
    const said = ['--eligible', 'recipient.tier > 1', '--description', 'Tier 2'];
    expect(await cli.done('pool', 'update', 'billing', ...said)).toMatch(/who may +recipient\.tier > 1\n/);
    expect(await cli.json('pool', 'get', 'billing', '--json')).toMatchObject({
      ...{ name: 'billing', strategy: 'least_loaded', metadata: { team: 'a' }, record_version: 1 },
      config: { eligibility_rule: 'recipient.tier > 1' },
    });
    const off = await cli.done('pool', 'disable', 'billing', '--reason', 'provider outage');
    expect(off).toContain('billing  KILL SWITCH');
    expect(off).toMatch(/stopped +since .*: provider outage\n/);
    expect(await cli.done('pool', 'list')).toMatch(/^billing +KILL SWITCH +0 +least_loaded +[0-9a-f-]{36}$/m);
    expect(await cli.done('pool', 'enable', 'billing')).toContain('billing  ACTIVE');
    expect(await cli.done('pool', 'list', '--status', 'paused')).toBe('There is no such pool.\n');
    const reset = await cli.done('pool', 'reset-capacity', 'billing');
    expect(reset).toBe('0 recipients begin at zero; what workflows hold stays held\n');
    expect(await cli.done('pool', 'delete', 'billing')).toMatch(/^deleted billing \(.*\); its recipients stay\n$/);
    expect((await cli.run('pool', 'get', 'billing')).err).toContain('there is no pool "billing"');
  });

  it('takes a file, options over it, and null to clear', async () => {
    const path = file('pool.json', { name: 'x', config: { slate_size: 2, catchall_pool_id: null } });
    expect(await cli.json('pool', 'create', 'filed', '--file', path, '--json')).toMatchObject({
      ...{ name: 'filed', config: { slate_size: 2 } },
    });
    const change = file('change.json', { config: { slate_size: null, max_offers: 3 } });
    const { config } = await cli.json('pool', 'update', 'filed', '--file', change, '--json');
    expect(config).toEqual({ enrichments: [], max_offers: 3 });
  });

  it('refuses a change of something that has changed since', async () => {
    await cli.done('pool', 'create', 'guarded');
    await cli.done('pool', 'update', 'guarded', '--description', 'a');
    const late = await cli.run('pool', 'update', 'guarded', '--description', 'b', '--expect', '7');
    expect(late).toMatchObject({ code: 1, out: '' });
    expect(late.err).toContain('[version_conflict]');
  });

  it.each<[string[], string]>([
    [['get', 'nobody'], 'ductor pool list shows all'],
    [['create', 'p', '--strategy', 'wishful'], 'strategy'],
    [['create', 'p', '--eligible', 'recipient.tierr > 1'], 'tierr'],
    [['create', 'p', '--params', '{'], 'the argument is not JSON'],
    [['update', 'p'], 'nothing is to change'],
    [['create', '--file', '/nowhere.json'], '/nowhere.json cannot be read'],
  ])('%j is refused', async (line, said) => {
    expect(await cli.run('pool', ...line)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(said) });
  });

  it('names what can be given', async () => {
    const wrong = await cli.run('pool', 'create', 'p', '--status', 'sleepy');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('active, paused, disabled') });
    const path = file('wrong.json', { name: 'p', strateggy: 'x' });
    const unknown = await cli.run('pool', 'create', '--file', path);
    expect(unknown.err).toContain('Did you mean "strategy"?');
    const list = await cli.run('pool', 'create', '--file', file('list.json', []));
    expect(list.err).toContain('holds no JSON object');
  });
});

describe('ductor recipient', () => {
  it('creates, changes, pauses, resumes, lists and deletes', async () => {
    await cli.done('pool', 'create', 'people');
    const limits = ['--max-concurrent', '5', '--daily-limit', '40', '--weight', '2.5'];
    const facts = ['--tag', 'billing', '--tag', 'spanish', '--attribute', 'level=3', '--attribute', 'vip=true'];
    const made = await cli.run('recipient', 'create', 'people', 'Jordan', ...limits, ...facts);
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('--state available') });
    expect(made.out).toMatch(/^Jordan {2}OFFLINE {2}/);
    expect(made.out).toMatch(/at once +░{16} {2}0 of 5\n/);
    expect(made.out).toMatch(/attributes +level=3 vip=true\n/);
    const id = /[0-9a-f-]{36}/.exec(made.out)?.[0] ?? '';
    await cli.done(
      'recipient',
      'update',
      id,
      '--state',
      'available',
      '--attribute',
      'region=007',
      '--daily-limit',
      '9',
    );
    expect(await cli.json('recipient', 'get', id, '--json')).toMatchObject({
      ...{ state: 'RECIPIENT_STATE_AVAILABLE', weight: 2.5, tags: ['billing', 'spanish'] },
      capacity: { max_concurrent: 5, daily_limit: 9 },
      attributes: { level: { number_value: 3 }, vip: { bool_value: true }, region: { string_value: '007' } },
    });
    expect(await cli.done('recipient', 'pause', id, '--reason', 'lunch')).toMatch(/PAUSED[\s\S]*because +lunch\n/);
    expect(await cli.done('recipient', 'list', 'people', '--state', 'paused')).toMatch(
      new RegExp(`^Jordan +PAUSED +0 of 5 +0 of 9 +2.5 +${id} +billing spanish$`, 'm'),
    );
    expect(await cli.done('recipient', 'resume', id)).toContain('AVAILABLE');
    expect(await cli.done('pool', 'stats', 'people')).toContain(
      '0 of 5 units in use (0 %), 1 of 1 recipients take work',
    );
    expect(await cli.done('recipient', 'delete', id)).toBe(`deleted Jordan (${id})\n`);
    expect(await cli.done('recipient', 'list', 'people')).toBe('There is no such recipient.\n');
  });

  it('says what is wrong', async () => {
    expect((await cli.run('recipient', 'create', 'nobody', 'Jordan')).err).toContain('there is no pool "nobody"');
    expect((await cli.run('recipient', 'get', 'Jordan')).err).toContain('is not a UUID');
    await cli.done('pool', 'create', 'strict');
    expect((await cli.run('recipient', 'create', 'strict', 'J', '--type', 'ghost')).err).toContain('type');
    expect(await cli.run('recipient', 'create', 'strict', 'J', '--weight', '-1')).toMatchObject({ code: 2 });
  });
});
