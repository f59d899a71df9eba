/** `ductor bundle`, against a whole node. */
import { describe, expect, it } from 'vitest';
import { nodeCommands } from '../testing/node-commands.js';

const cli = nodeCommands();

const YAML = `# The whole topology.
pools:
  - name: spill
  - name: billing
    strategy: least_loaded
    config: { default_timeout: 30s, fallback: { kind: overflow }, overflow_pool_id: spill }
recipients:
  - name: Ana
    external_id: agent-1
    pool_id: billing
    capacity: { max_concurrent: 2 }
rules:
  - { name: leads, expr: 'routable.type == "lead"', pool_id: billing, priority: 10 }
`;

describe('ductor bundle', () => {
  it('shows what would change, does exactly that, and then has nothing to do', async () => {
    const path = cli.file('routing.yaml', YAML);
    const shown = await cli.done('bundle', 'diff', path);
    expect(shown).toContain('+ pool billing\n');
    expect(shown).toContain('    config.overflow_pool_id: "spill"\n');
    expect(shown).toContain('+ recipient Ana (agent-1)\n');
    expect(shown).toContain('4 to create, 0 to change, 0 to delete, 0 as they should be\n');
    expect(await cli.run('bundle', 'diff', path, '--exit-code')).toMatchObject({ code: 1, err: '' });
    const [, plan = ''] = /^plan ([0-9a-f]{64})$/m.exec(shown) ?? [];
    const applied = await cli.done('bundle', 'apply', path, '--plan', plan, '--reason', 'first');
    expect(applied).toContain('4 created, 0 changed, 0 deleted');
    expect(await cli.done('bundle', 'apply', path)).toBe('nothing changed, 4 as they should be\n');
    expect(await cli.run('bundle', 'diff', path, '--exit-code')).toMatchObject({ code: 0 });
    const late = await cli.run('bundle', 'apply', path, '--plan', plan);
    expect(late).toMatchObject({ code: 1, err: expect.stringContaining('[version_conflict]') });
    expect(await cli.done('rule', 'list')).toContain('leads');
  });

  it('exports YAML that changes nothing where it came from, and JSON that does not either', async () => {
    const yaml = await cli.done('bundle', 'export');
    expect(yaml).toContain('overflow_pool_id: spill\n');
    expect(yaml).toContain('pool_id: billing\n');
    const all = ['--prune', 'pools', 'recipients', 'rules', '--exit-code'];
    expect(await cli.run('bundle', 'diff', cli.file('out.yaml', yaml), ...all)).toMatchObject({ code: 0 });
    const json = await cli.done('bundle', 'export', '--json');
    expect(await cli.run('bundle', 'diff', cli.file('out.json', json), ...all)).toMatchObject({ code: 0 });
  });

  it('deletes what is not named, of the kinds that are named', async () => {
    const path = cli.file('less.yaml', 'pools: [{ name: billing }]\n');
    expect(await cli.done('bundle', 'diff', path, '--prune', 'rules')).toContain('- rule leads\n');
    const plan = await cli.json('bundle', 'apply', path, '--prune', 'pools', 'rules', '--json');
    expect(plan).toMatchObject({
      changes: [
        { kind: 'pool', action: 'update', name: 'billing' },
        { kind: 'pool', action: 'delete', name: 'spill' },
        { kind: 'rule', action: 'delete', name: 'leads' },
      ],
    });
    expect(await cli.done('recipient', 'list', 'billing')).toContain('Ana');
  });

  it.each<[string, string]>([
    ['pools: [', 'Flow sequence'],
    ['pools: [{ name: a, nmae: b }]', 'nmae'],
    ['pools: [{ name: a }, { name: a }]', 'bundle.pools[1].name'],
    ['rules: [{ name: a, expr: "true", pool_id: nowhere }]', 'bundle.rules[0].pool_id'],
    ['rules: [{ name: a, expr: "routable.typo", action: drop }]', 'bundle.rules[0].expr'],
  ])('refuses %j', async (text, said) => {
    const path = cli.file('bad.yaml', text);
    expect(await cli.run('bundle', 'apply', path)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(said),
    });
  });
});
