/** "Route work" of README.md: the lines it tells to type, against a whole node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { commandLine, type CommandLine } from '../../engine/src/cli/testing/command-line.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { readmeLines, shellWords } from '../support/readme.js';

const database = testDatabase();
/** The first id in what a command printed. */
const firstId = (output: string): string => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(output)?.[0] ?? 'none';
const lines = readmeLines('Route work').map((line) => shellWords(line));
let node: TestNode;
let cli: CommandLine;
beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('readme');
  cli = commandLine({ DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey });
});
afterAll(() => node.stop());

describe('routing as the README tells it', () => {
  it('does what is typed, line by line', async () => {
    expect(lines.length).toBeGreaterThan(5);
    const ids = new Map<string, string>();
    const said = new Map<string, string>();
    for (const [npx, command, ...words] of lines) {
      expect([npx, command]).toEqual(['npx', 'ductor']);
      const typed = words.map((word) => ids.get(word) ?? word);
      const output = await cli.done(...typed);
      const name = typed.slice(0, 2).join(' ');
      said.set(name, output);
      if (name === 'route send') ids.set('DECISION', firstId(output));
      if (name === 'assignment list') ids.set('ASSIGNMENT', firstId(output));
    }
    expect(said.get('route send')).toContain('→ assigned: Ana');
    expect(said.get('route explain')).toBe(said.get('route send'));
    expect(await cli.json('assignment', 'list', '--state', 'active', '--json')).toMatchObject({ data: [] });
  });

  it('refuses the fourth until somebody has completed one', async () => {
    const send = async (at: number): Promise<readonly [number, string]> => {
      const { code, out } = await cli.run('route', 'send', `invoice-${at}`, '--pool', 'billing');
      return [code, out.split('\n').find((line) => line.startsWith('→')) ?? out];
    };
    const winners = [await send(2), await send(3), await send(4)];
    expect(winners.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(winners.map(([, line]) => line).toSorted()).toEqual([
      '→ assigned: Ana',
      '→ assigned: Ana',
      '→ assigned: Ben',
    ]);
    expect((await send(5))[0]).toBe(1);
    const listed = await cli.done('assignment', 'list', '--state', 'active');
    await cli.done('assignment', 'complete', firstId(listed));
    expect((await send(6))[0]).toBe(0);
  });
});
