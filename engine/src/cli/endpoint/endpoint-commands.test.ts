/** `ductor endpoint`, against a whole node. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../api/grpc/testing/test-node.js';
import { testDatabase } from '../../store/testing/index.js';
import { runProgram } from '../program.js';
import { capturedTerminal } from '../testing/captured-terminal.js';

const database = testDatabase();
let node: TestNode;
let env: Record<string, string>;
beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('cli');
  env = { DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey };
});
afterAll(() => node.stop());

async function ductor(...line: string[]): Promise<{ code: number; out: string; err: string }> {
  const terminal = capturedTerminal();
  const code = await runProgram(['node', 'ductor', 'endpoint', ...line], env, terminal);
  return { code, out: terminal.written(), err: terminal.complained() };
}

describe('ductor endpoint', () => {
  it('registers, lists, shows and deletes', async () => {
    const made = await ductor('register', 'web', '--url', 'https://1.1.1.1/callbacks', '--queue', 'a', 'b');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toMatch(/called +by http at https:\/\/1\.1\.1\.1\/callbacks/);
    expect(made.out).toMatch(/key +whpk_[A-Za-z0-9+/]{43}=/);
    expect(made.out).toMatch(/bounds +50 at once, 30s each/);
    const id = /^web {2}([0-9a-f-]{36})$/m.exec(made.out)?.[1] ?? '';
    expect((await ductor('list')).out).toMatch(new RegExp(`${id} +web +http .* a b +https://1.1.1.1/callbacks`));
    expect((await ductor('show', id)).out).toMatch(/serves +nothing yet/);
    const shown: unknown = JSON.parse((await ductor('show', id, '--json')).out);
    expect(shown).toMatchObject({ id, name: 'web', form: 'ENDPOINT_FORM_HTTP', queues: ['a', 'b'], concurrency: 50 });
    expect((await ductor('delete', id)).out).toContain(`deleted web (${id})`);
    expect(await ductor('show', id)).toMatchObject({ code: 1, err: expect.stringContaining('[not_found]') });
  });

  it('says what is wrong and what to do', async () => {
    for (const [line, said] of [
      [['register', 'web', '--url', 'https://127.0.0.1/'], 'DUCTOR_EGRESS_ALLOW'],
      [['register', 'web', '--url', 'http://1.1.1.1/'], '[egress_refused]'],
      [['register', 'web', '--form', 'grpc', '--url', 'https://1.1.1.1/x'], 'has a path'],
      [['register', '-', '--url', 'https://1.1.1.1/'], 'letters, digits'],
      [['register', 'web', '--url', 'https://1.1.1.1/', '--timeout', 'soon'], 'for example "30s"'],
    ] as const) {
      const { code, err } = await ductor(...line);
      expect([line, code, err]).toEqual([line, 1, expect.stringContaining(said)]);
    }
    expect(await ductor('register', 'web')).toMatchObject({ code: 2 });
  });
});
