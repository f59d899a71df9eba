/** `ductor doctor --capacity` against a whole node: one that is well, and ones with planted faults. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../../api/grpc/testing/test-node.js';
import { testDatabase } from '../../../store/testing/index.js';
import { runProgram } from '../../program.js';
import { capturedTerminal } from '../../testing/captured-terminal.js';
import { commandLine } from '../../testing/command-line.js';
import type { Finding } from '../finding.js';

const database = testDatabase();
let node: TestNode;
let env: Record<string, string>;
beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('doctor');
  env = { DUCTOR_DATA_DIR: '/nonexistent', DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey };
});
afterAll(() => node.stop());

/** Findings about what was tried, by check; the exit code. */
async function examine(more: Record<string, string> = {}, ...options: readonly string[]) {
  const terminal = capturedTerminal();
  const line = ['node', 'ductor', 'doctor', '--capacity', '--json', ...options];
  const code = await runProgram(line, { ...env, ...more }, terminal);
  const report: { readonly findings: readonly Finding[] } = JSON.parse(terminal.written());
  const tried = report.findings.filter(({ check }) => check.startsWith('capacity.'));
  return { code, told: terminal.complained(), findings: new Map(tried.map((each) => [each.check, each])) };
}

const levels = (findings: ReadonlyMap<string, Finding>): Readonly<Record<string, string>> =>
  Object.fromEntries([...findings].map(([check, { level }]) => [check, level]));

describe('ductor doctor --capacity', () => {
  it('finds admission and drain well, says what it could not check, and leaves nobody behind', async () => {
    for (const _round of ['first', 'again']) {
      const { code, findings } = await examine();
      expect(levels(findings)).toEqual({
        ...{ 'capacity.admission': 'OK', 'capacity.board': 'OK', 'capacity.restart': 'WARN', 'capacity.drain': 'OK' },
      });
      expect(findings.get('capacity.admission')?.found).toBe(
        '12 runs at once for 3 units: 3 admitted, 3 held, at most 3; the others refused',
      );
      expect(findings.get('capacity.restart')).toMatchObject({ found: 'not checked' });
      expect(code).toBe(0);
    }
    for (const table of ['pool', 'recipient', 'capacity_reservation', 'capacity_authority', 'capacity_family']) {
      const { rows } = await database.db.query<{ n: number }>(`select count(*)::int as n from ductor.${table}`);
      expect([table, rows[0]?.n]).toEqual([table, 0]);
    }
    // Its workflows stay, each with one version however often it comes.
    const { data } = await commandLine(env).json('workflow', 'list', '--json');
    expect(data).toMatchObject([
      { family_slug: 'ductor-doctor-select', current_version: 1 },
      { family_slug: 'ductor-doctor-wait', current_version: 1 },
    ]);
  }, 120_000);

  it('sees an authority that counts nothing', async () => {
    await database.db.query(
      `create function ductor.forget() returns trigger language plpgsql as 'begin new.held = 0; return new; end'`,
    );
    await database.db.query(
      `create trigger forget before update on ductor.capacity_authority for each row execute function ductor.forget()`,
    );
    try {
      const { code, findings } = await examine();
      expect(findings.get('capacity.admission')).toMatchObject({
        ...{ level: 'FAIL', found: expect.stringContaining('admitted, 0 held, at most 0') },
      });
      // Nothing that goes by it is tried then.
      expect(findings.has('capacity.drain')).toBe(false);
      expect(code).toBe(1);
    } finally {
      await database.db.query('drop function ductor.forget cascade');
    }
  }, 120_000);

  it('sees capacity that a cancel releases before everybody has ended', async () => {
    await database.db.query(
      `create function ductor.let_go() returns trigger language plpgsql security definer as
        'begin update ductor.capacity_authority set held = 0; return new; end'`,
    );
    await database.db.query(
      `create trigger let_go after insert on ductor.run_inbox for each row when (new.kind = 1)
        execute function ductor.let_go()`,
    );
    try {
      const { code, findings } = await examine();
      expect(findings.get('capacity.admission')?.level).toBe('OK');
      expect(findings.get('capacity.drain')).toMatchObject({
        ...{ level: 'FAIL', found: '0 held for 3 families with open runs' },
      });
      expect(code).toBe(1);
      expect(findings.has('capacity.scratch')).toBe(false);
    } finally {
      await database.db.query('drop function ductor.let_go cascade');
    }
  }, 120_000);

  it('says that no restart was seen where nobody made one', async () => {
    const { told, findings } = await examine({}, '--restart-within', '1s');
    expect(told).toContain(`restart the engine at ${node.address} now`);
    expect(findings.get('capacity.restart')).toMatchObject({ level: 'WARN', found: 'no restart was seen' });
    expect(findings.get('capacity.drain')?.level).toBe('OK');
  }, 120_000);

  it('does not touch a pool of its name, and needs a key that may do all this, and an engine', async () => {
    const cli = commandLine(env);
    await cli.done('pool', 'create', 'ductor-doctor');
    const taken = await examine();
    expect(levels(taken.findings)).toEqual({ 'capacity.scratch': 'FAIL' });
    expect(taken.findings.get('capacity.scratch')?.remedy).toContain('ductor capacity board --pool ductor-doctor');
    await cli.done('pool', 'delete', 'ductor-doctor');
    const { apiKey } = await node.tenant('reader', ['run:read']);
    const refused = await examine({ DUCTOR_API_KEY: apiKey });
    expect(levels(refused.findings)).toEqual({ 'capacity.scratch': 'FAIL' });
    const terminal = capturedTerminal();
    const nowhere = { DUCTOR_DATA_DIR: '/nonexistent', DATABASE_URL: database.url };
    expect(await runProgram(['node', 'ductor', 'doctor', '--capacity'], nowhere, terminal)).toBe(1);
    expect(terminal.complained()).toContain('capacity is examined through an engine');
  }, 120_000);
});
