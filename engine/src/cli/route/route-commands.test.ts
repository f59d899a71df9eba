/** `ductor route`, against a whole node. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../testing/command-line.js';
import { nodeCommands } from '../testing/node-commands.js';

const cli = nodeCommands();
beforeAll(async () => {
  await cli.done(
    'pool',
    'create',
    'billing',
    '--strategy',
    'score',
    '--params',
    '{"expr": "recipient.attributes.level"}',
  );
  const available = ['--state', 'available', '--max-concurrent', '1', '--attribute'];
  await cli.done('recipient', 'create', 'billing', 'Ana', ...available, 'level=5');
  await cli.done('recipient', 'create', 'billing', 'Ben', ...available, 'level=2');
  await cli.done('recipient', 'create', 'billing', 'Cleo', '--attribute', 'level=9');
});

const idOf = (json: Readonly<Record<string, unknown>>): string => String(json['id']);

describe('ductor route', () => {
  it('draws a preview and writes nothing', async () => {
    const { code, out, err } = await cli.run('route', 'preview', 'lead-1', '--pool', 'billing');
    expect({ code, err }).toEqual({ code: 0, err: '(nothing was written: ductor route send does it)\n' });
    expect(out).toContain('billing, by score\n');
    expect(out).toContain(`  ${'█'.repeat(40)}  3 in the pool\n`);
    expect(out).toMatch(/ {2}░{6}█{27}░{7} {2}2 {2}-1 state not available {2}Cleo \(RECIPIENT_STATE_OFFLINE\)\n/);
    expect(out).toMatch(/▶ {2}1 {2}Ana {2}score 5 {2}load 0 of 1 {2}░{10}\n {5}2 {2}Ben {2}score 2/);
    expect(out).toMatch(/▼\n→ assigned: Ana\n$/);
    expect(await cli.done('route', 'decisions')).toBe('There is no such decision.\n');
  });

  it('sends work until nobody has room, explains, lists and replays', async () => {
    const facts = ['--type', 'lead', '--attributes', '{"amount": 1}', '--priority', '-5'];
    const sent = await cli.run('route', 'send', 'lead-2', '--pool', 'billing', '--key', 'k-2', ...facts);
    expect(sent).toMatchObject({ code: 0, err: expect.stringMatching(/^\(assignment [0-9a-f-]{36}\)\n$/) });
    expect(sent.out).toContain('→ assigned: Ana');
    const again = await cli.run('route', 'send', 'lead-9', '--pool', 'billing', '--key', 'k-2');
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('[idempotency_conflict]') });
    const second = idOf(await cli.json('route', 'send', 'lead-3', '--pool', 'billing', '--json'));
    const explained = await cli.done('route', 'explain', second);
    expect(explained).toMatch(/-1 at concurrency +Ana \(1 of 1\)\n/);
    expect(explained).toContain('→ assigned: Ben');
    const third = await cli.run('route', 'send', 'lead-4', '--pool', 'billing');
    expect(third).toMatchObject({ code: 1, err: '' });
    expect(third.out).toContain('→ no_eligible_recipient');
    const listed = await cli.done('route', 'decisions', '--pool', 'billing', '--outcome', 'assigned');
    expect(listed).toMatch(new RegExp(`^${second} .* lead-3 +assigned`, 'm'));
    expect(listed).not.toContain('lead-4');
    expect(await cli.done('route', 'replay', second)).toMatch(
      /^the same, byte for byte: assigned\n {2}sha256 {2}\w{64}/,
    );
    expect(await cli.json('route', 'replay', second, '--json')).toMatchObject({ is_same: true });
  });

  it('decides many at once, says how work went, exports, and replays a file without an engine', async () => {
    const pool_id = idOf(await cli.json('pool', 'create', 'crowd', '--json'));
    await cli.done('recipient', 'create', 'crowd', 'Dan', '--state', 'available');
    const items = ['many-1', 'many-2'].map((id) => ({ pool_id, routable: { id } }));
    const all = [...items, { pool_id: 'x', routable: { id: 'bad' } }];
    const file = cli.file('items.json', JSON.stringify({ items: all }));
    const many = await cli.run('route', 'batch', file);
    expect(many.code).toBe(1);
    expect(many.out).toMatch(/^0 +many-1 +[0-9a-f-]{36} +assigned: [0-9a-f-]{36}$/m);
    expect(many.out).toMatch(/^2 +invalid_argument: /m);
    cli.file('items.json', JSON.stringify({ items: [{ pool_id, routable: { id: 'many-3' } }] }));
    const [{ decision }] = (await cli.json('route', 'batch', file, '--json'))['data'] as [
      { decision: { id: string; assignment_ids: [string] } },
    ];
    const [assignment] = decision.assignment_ids;
    expect(await cli.done('route', 'outcome', assignment, '--latency', '350ms')).toMatch(/0 failures in a row, 350 ms/);
    const failed = await cli.json('route', 'outcome', assignment, '--failed', '--json');
    expect(failed).toMatchObject({ failures_in_a_row: 1 });
    const exported = cli.file('decision.json', await cli.done('route', 'export', decision.id));
    const offline = commandLine({ DUCTOR_ADDRESS: '127.0.0.1:1', DUCTOR_API_KEY: 'none' });
    expect(await offline.done('route', 'replay-file', exported)).toMatch(/^the same, byte for byte: assigned/);
    const forged = readFileSync(exported, 'utf8').replace('outcome\\":\\"assigned', 'outcome\\":\\"offered');
    cli.file('decision.json', forged);
    expect(await offline.run('route', 'replay-file', exported)).toMatchObject({
      ...{ code: 1, out: expect.stringMatching(/^not the same\n {2}recorded {2}offered .*\n {2}replayed {2}assigned/) },
    });
    expect(await offline.run('route', 'replay-file', file)).toMatchObject({
      ...{ code: 1, err: expect.stringContaining('holds no exported decision') },
    });
  });

  it.each<[string[], number, string]>([
    [['explain', 'x'], 1, 'is not a UUID'],
    [['replay', '0198c1d2-0000-7000-8000-000000000000'], 1, '[not_found]'],
    [['send', 'lead', '--pool', 'nobody'], 1, 'there is no pool "nobody"'],
    [['preview', 'lead', '--attributes', '[1]'], 1, 'attributes'],
    [['preview', 'lead', '--attributes', '{'], 1, 'the argument is not JSON'],
    [['send', 'lead', '--priority', 'high'], 2, 'no whole number'],
  ])('%j is refused', async (line, code, said) => {
    expect(await cli.run('route', ...line)).toMatchObject({ code, out: '', err: expect.stringContaining(said) });
  });
});
