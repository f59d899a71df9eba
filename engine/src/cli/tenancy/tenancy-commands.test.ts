/** `ductor key` and `ductor tenant`, against a whole node and against a bare database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../api/grpc/testing/test-node.js';
import { createTestDatabase, testDatabase } from '../../store/testing/index.js';
import { isWellFormedKey, SCOPES } from '../../tenancy/index.js';
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

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function ductor(line: readonly string[], environment: Record<string, string> = env): Promise<Ended> {
  const terminal = capturedTerminal();
  const code = await runProgram(['node', 'ductor', ...line], environment, terminal);
  return { code, out: terminal.written(), err: terminal.complained() };
}

describe('ductor key', () => {
  it('makes a key that works, prints it alone, and never again', async () => {
    const made = await ductor(['key', 'create', 'ci', '--scope', 'key:read,run:read', '--expires-in', '90d']);
    expect(made.code).toBe(0);
    const secret = made.out.trim();
    expect(isWellFormedKey(secret)).toBe(true);
    expect(made.err).toMatch(/key ci \([0-9a-f-]{36}\) may key:read, run:read, until \d{4}-/);
    const listed = await ductor(['key', 'list'], { ...env, DUCTOR_API_KEY: secret });
    expect(listed.out).toMatch(/ci +ends in 8\d d.* key:read run:read/);
    expect(listed.out + listed.err).not.toContain(secret);
  });

  it('prints JSON as the contract has it', async () => {
    const made = await ductor(['key', 'create', 'json', '--scope', 'run:read', '--json']);
    const { key, secret } = JSON.parse(made.out) as { key: { id: string; name: string }; secret: string };
    expect(key.name).toBe('json');
    expect(isWellFormedKey(secret)).toBe(true);
    const revoked = await ductor(['key', 'revoke', key.id, '--reason', 'done', '--json']);
    expect(JSON.parse(revoked.out)).toMatchObject({ id: key.id, revoked_at: expect.any(String) });
    const listed = await ductor(['key', 'list', '--json']);
    expect(JSON.parse(listed.out)).toMatchObject({ data: expect.arrayContaining([expect.objectContaining(key)]) });
  });

  it('revokes a key', async () => {
    const made = await ductor(['key', 'create', 'leaked', '--scope', 'key:read']);
    const id = /\(([0-9a-f-]{36})\)/.exec(made.err)?.[1] ?? '';
    expect((await ductor(['key', 'revoke', id])).out).toContain(`revoked leaked (${id})`);
    const after = await ductor(['key', 'list'], { ...env, DUCTOR_API_KEY: made.out.trim() });
    expect(after).toMatchObject({ code: 1, err: expect.stringContaining('[unauthenticated]') });
    expect((await ductor(['key', 'list'])).out).toMatch(/leaked +revoked/);
  });

  it('says what is wrong and what to do', async () => {
    for (const [line, said] of [
      [['key', 'create', 'x'], '--scope run:read'],
      [['key', 'create', '--scope', 'run:read'], 'ductor key create NAME'],
      [['key', 'create', 'x', '--scope', 'moon:fly'], 'audit:read, bridge:work'],
      [['key', 'create', 'x', '--scope', 'run:read', '--expires-in', 'soon'], 'for example "90d"'],
      [['key', 'create', 'x', '--scope', 'run:read', '--tenant', 'acme'], 'DUCTOR_API_KEY'],
      [['key', 'create', '--bootstrap', '--scope', 'run:read'], 'Leave them out'],
      [['key', 'revoke', 'nothing'], 'send the id as the engine gave it'],
      [['key', 'revoke', '01900000-0000-7000-8000-00000000000a'], 'there is no key'],
    ] as const) {
      const { code, out, err } = await ductor(line);
      expect([line, code, out]).toEqual([line, 1, '']);
      expect(err).toContain(said);
    }
  });
});

describe('ductor tenant', () => {
  it('makes a tenant with a first key, and lists it', async () => {
    const made = await ductor(['tenant', 'create', 'acme', '--key-name', 'root']);
    expect(made.err).toMatch(/tenant acme \([0-9a-f-]{36}\)\nkey root /);
    const mine = { ...env, DUCTOR_API_KEY: made.out.trim() };
    expect((await ductor(['key', 'list'], mine)).out).toMatch(/root +live/);
    expect(await ductor(['tenant', 'list'], mine)).toMatchObject({
      code: 1,
      err: expect.stringContaining('tenant:admin'),
    });
    expect((await ductor(['tenant', 'list'])).out).toMatch(/\nacme /);
    expect((await ductor(['tenant', 'create', 'acme'])).err).toContain('[tenant_exists]');
    expect(JSON.parse((await ductor(['tenant', 'create', 'json', '--json'])).out)).toMatchObject({
      data: { slug: 'json' },
      first_key: { key: { name: 'admin' } },
    });
  });
});

describe('ductor key create --bootstrap', () => {
  const SECRET = 'another secret for tests of 32 bytes';

  it('makes the first operator key of a database without an engine, once', async () => {
    const empty = await createTestDatabase({ isMigrated: false });
    const bare = { DATABASE_URL: empty.url, DUCTOR_SECRET: SECRET };
    const made = await ductor(['key', 'create', '--bootstrap'], bare);
    expect(made.err).toContain(`may ${[...SCOPES].sort().join(', ')}, until it is revoked`);
    const other = await startTestNode(empty.db, { secret: SECRET });
    const mine = { DUCTOR_ADDRESS: other.address, DUCTOR_API_KEY: made.out.trim() };
    expect((await ductor(['tenant', 'create', 'acme'], mine)).code).toBe(0);
    const again = await ductor(['key', 'create', '--bootstrap'], bare);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('[operator_exists]') });
    const [key] = (JSON.parse((await ductor(['key', 'list', '--json'], mine)).out) as { data: { id: string }[] }).data;
    expect((await ductor(['key', 'revoke', key?.id ?? ''], mine)).code).toBe(0);
    const replaced = await ductor(['key', 'create', 'second', '--bootstrap', '--json'], bare);
    expect(JSON.parse(replaced.out)).toMatchObject({ tenant: 'operator', key: { name: 'second' } });
    await other.stop();
    await empty.drop();
  });

  it('names the setting that is missing', async () => {
    const { DATABASE_URL, ...rest } = { DATABASE_URL: database.url, DUCTOR_SECRET: SECRET };
    expect((await ductor(['key', 'create', '--bootstrap'], rest)).err).toContain('DATABASE_URL is not set');
    expect((await ductor(['key', 'create', '--bootstrap'], { DATABASE_URL })).err).toContain(
      'DUCTOR_SECRET is not set',
    );
  });
});
