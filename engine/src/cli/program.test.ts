/** The client side of the command line, against a whole node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../api/grpc/testing/test-node.js';
import { testDatabase } from '../store/testing/index.js';
import { runProgram } from './program.js';
import { capturedTerminal } from './testing/captured-terminal.js';

const database = testDatabase();
let node: TestNode;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('cli');
  env = { DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey };
  folder = mkdtempSync(join(tmpdir(), 'ductor-cli-'));
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function ductor(line: readonly string[], options: Parameters<typeof capturedTerminal>[0] = {}): Promise<Ended> {
  const terminal = capturedTerminal(options);
  const code = await runProgram(['node', 'ductor', ...line], env, terminal);
  return { code, out: terminal.written(), err: terminal.complained() };
}

/** Runs a command that must end well; returns what it printed. */
async function done(...line: string[]): Promise<string> {
  const { code, out, err } = await ductor(line);
  expect(err === '' || code === 0 ? '' : err).toBe('');
  expect(code).toBe(0);
  return out;
}

const wait = (ref: string, duration: string): object => ({ ref, type: 'STEP_TYPE_WAIT', args: { duration } });
const edge = (source: string, target: string): object => ({
  source_ref: source,
  target_ref: target,
  type: 'EDGE_TYPE_SUCCESS',
});

function file(name: string, definition: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof definition === 'string' ? definition : JSON.stringify(definition));
  return path;
}

const short = (duration: string, slug = 'short'): object => ({
  family_slug: slug,
  title: 'A short one',
  steps: [wait('pause', duration), wait('again', duration)],
  edges: [edge('pause', 'again')],
});
const idOf = (json: string): string => (JSON.parse(json) as { id: string }).id;

describe('ductor workflow', () => {
  it('publishes a file, and the same content only once', async () => {
    expect(await done('workflow', 'publish', file('a.json', short('5ms')))).toBe('published short version 1\n');
    expect(await done('workflow', 'publish', file('a.json', short('5ms')))).toContain('nothing has changed');
    expect(await done('workflow', 'publish', file('b.json', short('6ms')))).toBe('published short version 2\n');
  });

  it('says everything that is wrong with a file, and stores nothing', async () => {
    const wrong = { family_slug: 'wrong', steps: [wait('a', 'soon'), { ref: 'b', type: 'STEP_TYPE_WAIT' }], edges: [] };
    const { code, out, err } = await ductor(['workflow', 'publish', file('wrong.json', wrong)]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('[invalid_definition]');
    expect(err).toContain('steps[0].args.duration');
    expect(err).toContain('steps[1].args');
    expect((await ductor(['workflow', 'show', 'wrong'])).err).toContain('[not_found]');
  });

  it('names unknown fields, broken JSON and files that are not there', async () => {
    const unknown = await ductor(['workflow', 'publish', file('u.json', { family_slug: 'x', stepz: [] })]);
    expect(unknown.err).toContain('stepz');
    expect(unknown.err).toContain('Did you mean "steps"?');
    expect((await ductor(['workflow', 'publish', file('j.json', '{"a": ')])).err).toContain('j.json is not JSON');
    const missing = await ductor(['workflow', 'publish', join(folder, 'none.json')]);
    expect(missing).toMatchObject({ code: 1, out: '' });
    expect(missing.err).toContain('none.json cannot be read');
  });

  it('checks without storing', async () => {
    const path = file('check.json', short('1ms', 'checked'));
    expect(await done('workflow', 'publish', '--check', path)).toBe(`${path} is fine\n`);
    expect((await ductor(['workflow', 'show', 'checked'])).code).toBe(1);
  });

  it('lists and shows versions and drafts', async () => {
    expect(await done('workflow', 'list')).toMatch(/^short\s+2\s+file\s+.* ago\s+A short one$/m);
    expect(JSON.parse(await done('workflow', 'list', '--json'))).toMatchObject({ data: [{ family_slug: 'short' }] });
    const shown = await done('workflow', 'show', 'short');
    expect(shown).toContain('short (version 2, the current one): A short one');
    expect(shown).toContain('  ◷ pause\n     ▼\n  ◷ again\n');
    expect(shown).toMatch(/◷ again\s+WAIT\s+pause\s+duration 6ms/);
    expect(await done('workflow', 'show', 'short', '--version', '1')).toContain('duration 5ms');
    expect(await done('workflow', 'show', 'short', '--draft')).toContain('(draft)');
    expect(await done('workflow', 'show', 'short', '--graph')).toBe('  ◷ pause\n     ▼\n  ◷ again\n');
    const mermaid = await done('workflow', 'show', 'short', '--format', 'mermaid');
    expect(mermaid).toContain('title: "short: A short one (version 2, the current one)"');
    expect(mermaid).toContain('  s0["◷ pause<br/>WAIT"]\n  s1["◷ again<br/>WAIT"]\n  s0 --> s1\n');
    expect(await done('workflow', 'show', 'short', '--format', 'svg')).toMatch(/^<svg [^]*<\/svg>\n$/);
    const old = await ductor(['workflow', 'show', 'short', '--version', '9']);
    expect(old.err).toContain('short has no version 9');
  });
});

describe('ductor workflow diff and promote', () => {
  it('says what the draft would change, and what another version did', async () => {
    await done('workflow', 'publish', file('d.json', short('5ms', 'moves')));
    expect(await done('workflow', 'diff', 'moves')).toBe('version 1 and the draft mean the same\n');
    await done('workflow', 'publish', file('d.json', { ...short('7ms', 'moves'), title: 'Another' }));
    expect(await done('workflow', 'diff', 'moves', '1', '2')).toBe(
      'from version 1 to version 2:\n' +
        '~ steps[pause].args.duration  "5ms" -> "7ms"\n' +
        '~ steps[again].args.duration  "5ms" -> "7ms"\n' +
        '~ title  "A short one" -> "Another"\n',
    );
    const json: unknown = JSON.parse(await done('workflow', 'diff', 'moves', 'current', '1', '--json'));
    expect(json).toMatchObject({ from_version: 2, to_version: 1, changes: [{ kind: 'CHANGE_KIND_CHANGED' }, {}, {}] });
  });

  it('makes an earlier version current', async () => {
    expect(await done('workflow', 'promote', 'moves', '1')).toBe('moves runs version 1 from now on; it ran 2\n');
    expect(await done('workflow', 'promote', 'moves', '1')).toBe('moves runs version 1 already\n');
    expect(await done('workflow', 'list')).toMatch(/^moves\s+1\s+file\s+.*A short one$/m);
    expect(await done('run', 'trigger', 'moves')).toContain('moves version 1');
  });

  it('knows no version that was never published', async () => {
    expect((await ductor(['workflow', 'promote', 'moves', '9'])).err).toContain('moves has no version 9');
    expect((await ductor(['workflow', 'diff', 'moves', '9'])).err).toContain('moves has no version 9');
    expect((await ductor(['workflow', 'diff', 'moves', 'draft'])).code).toBe(2);
  });
});

describe('ductor run', () => {
  it('starts a run and waits for its end', async () => {
    await done('workflow', 'publish', file('slow.json', short('1s', 'slow')));
    const { code, out, err } = await ductor(['run', 'trigger', 'slow', '--input', '{"n": 1}', '--wait']);
    expect(code).toBe(0);
    expect(err).toMatch(/^started [0-9a-f-]{36}\n$/);
    expect(out).toMatch(/pause {2}WAITING/);
    expect(out).toMatch(/run {2}COMPLETED\n\{"again":\{"woke_at":.*\n$/);
  });

  it('answers the first run again for its key', async () => {
    const ids = [];
    for (let time = 0; time < 2; time += 1) {
      ids.push(idOf(await done('run', 'trigger', 'short', '--key', 'lead-1', '--json')));
    }
    expect(ids[0]).toBe(ids[1]);
    const other = await ductor(['run', 'trigger', 'short', '--key', 'lead-1', '--input', '{"other": 1}']);
    expect(other.err).toContain('[idempotency_conflict]');
  });

  it('shows a run drawn, told, listed, and as its journal has it', async () => {
    const id = idOf(await done('run', 'trigger', 'short', '--input', '{"n": 2}', '--attribute', 'b=2', '--json'));
    await done('run', 'watch', id);
    const shown = await done('run', 'show', id);
    expect(shown).toContain('  ✓ pause\n     ▼\n  ✓ again\n');
    expect(shown).toContain('attributes  b=2');
    expect(await done('run', 'show', id, '--format', 'mermaid')).toContain('  class s0,s1 state_completed\n');
    expect(await done('run', 'show', id, '--format', 'svg')).toContain('<title>✓ again, WAIT, COMPLETED</title>');
    expect(shown).toMatch(/input\s+\{"n":2\}/);
    expect(await done('run', 'list', '--state', 'completed', '--workflow', 'short')).toContain(id);
    expect(await done('run', 'list', '--state', 'parked')).toBe('There is no such run.\n');
    expect(await done('run', 'history', id)).toMatch(/^1 .*run_started.*\n1 .*step_waiting\s+pause/m);
  });

  it('draws in place where a person looks on', async () => {
    const { code, out } = await ductor(['run', 'trigger', 'slow', '--wait'], { isLive: true, hasColour: true });
    expect(code).toBe(0);
    expect(out).toContain('\u001b[J');
    expect(out).toMatch(/\u001b\[\d+A/);
    expect(out).toContain('\u001b[32mCOMPLETED\u001b[0m');
  });

  it('fails when the run does not complete, and when patience ends', async () => {
    await done('workflow', 'publish', file('long.json', short('1h', 'long')));
    const id = idOf(await done('run', 'trigger', 'long', '--json'));
    const late = await ductor(['run', 'watch', id, '--timeout', '50ms']);
    expect(late).toMatchObject({ code: 1 });
    expect(late.err).toContain('[deadline_exceeded]');
    expect(await done('run', 'cancel', id, '--reason', 'ordered twice')).toContain(id);
    expect(await ductor(['run', 'watch', id, '--json'])).toMatchObject({ code: 1, err: '' });
    expect(await done('run', 'history', id)).toContain('ordered twice');
    expect((await ductor(['run', 'cancel', id])).err).toContain('[run_closed]');
  });

  it('says what is wrong with an id, a state and an input', async () => {
    expect((await ductor(['run', 'show', 'x'])).err).toContain('is not a UUID in lower case');
    expect((await ductor(['run', 'list', '--state', 'sleepy'])).err).toContain('Use one of pending, running');
    expect((await ductor(['run', 'trigger', 'short', '--input', '{'])).err).toContain('the argument is not JSON');
    expect((await ductor(['run', 'trigger', 'none'])).err).toContain('[not_found]');
  });
});

describe('ductor run signal-with-start', () => {
  it('starts a run that has the signal, and then signals it', async () => {
    const steps = ['one', 'two'].map((ref) => ({ ref, type: 'STEP_TYPE_SIGNAL', args: { name: 'add' } }));
    const edges = [{ source_ref: 'one', target_ref: 'two', type: 'EDGE_TYPE_SUCCESS' }];
    await done('workflow', 'publish', file('cart.json', { family_slug: 'cart', steps, edges }));
    const say = (payload: string) =>
      done('run', 'signal-with-start', 'cart', 'add', '--run-key', 'ada', '--payload', payload);
    const first = await say('1');
    expect(first).toMatch(/^[0-9a-f-]{36} {2}[A-Z]+ {2}started with add\n$/);
    const [id = ''] = first.split(' ');
    expect(await say('2')).toMatch(new RegExp(`^${id} {2}[A-Z]+ {2}heard add\n$`));
    const { out } = await ductor(['run', 'watch', id]);
    expect(out).toContain('run  COMPLETED');
    expect((await ductor(['run', 'signal-with-start', 'cart', 'add'])).err).toContain('--run-key');
  });
});

describe('ductor run explain, pause, resume, retry and terminate', () => {
  it('says what a run waits for', async () => {
    const id = idOf(await done('run', 'trigger', 'long', '--json'));
    const told = await done('run', 'explain', id);
    expect(told).toMatch(/^WAITING, TIMER: /);
    expect(told).toMatch(/^step +pause$/m);
    expect(told).toMatch(/^until +\S+ \S+, in 59 m/m);
    expect(JSON.parse(await done('run', 'explain', id, '--json'))).toMatchObject({ reason: 'RUN_REASON_TIMER' });
    expect(await done('run', 'pause', id, '--reason', 'lunch')).toBe(`${id}  PAUSED\n`);
    expect(await done('run', 'explain', id)).toContain(`Go on: ductor run resume ${id}`);
    expect(await done('run', 'resume', id)).toBe(`${id}  WAITING\n`);
    expect((await ductor(['run', 'retry', id])).err).toContain('[run_not_parked]');
    expect(await done('run', 'terminate', id, '--reason', 'enough')).toBe(`${id}  TERMINATED\n`);
    expect(await done('run', 'explain', id)).toContain('CLOSED');
    const again = await done('run', 'retry', id, '--key', 'again', '--reason', 'not enough');
    expect(again).toMatch(/^[0-9a-f-]{36} {2}[A-Z]+\n$/);
    expect(again).not.toContain(id);
    expect((await done('run', 'retry', id, '--key', 'again')).split(' ')[0]).toBe(again.split(' ')[0]);
    expect(await done('run', 'history', id)).toMatch(/run_paused.*lunch[\s\S]*run_terminated.*enough/);
  });

  it('names the handler that nobody has', async () => {
    const step = { ref: 'ask', type: 'STEP_TYPE_CALLBACK', args: { handler: 'nobody' } };
    await done('workflow', 'publish', file('ask.json', { family_slug: 'ask', steps: [step], edges: [] }));
    const told = await done('run', 'explain', idOf(await done('run', 'trigger', 'ask', '--json')));
    expect(told).toMatch(/^RUNNING, NO_HANDLER: /);
    expect(told).toMatch(/^handler +nobody on queue default$/m);
    expect(told).toContain('Start a worker that has the handler');
  });
});

describe('usage', () => {
  it.each([
    [['run', 'trigger']],
    [['run', 'list', '--limit', '0']],
    [['workflow', 'show', 'x', '--version', 'one']],
    [['workflow', 'show', 'x', '--format', 'png']],
    [['run', 'show', 'x', '--format', 'svg', '--json']],
    [['dev', '--port', '70000']],
    [['nonsense']],
    [['run', 'nonsense']],
  ])('%j is wrong usage', async (line) => {
    const { code, out, err } = await ductor(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('--help');
  });

  it('helps with an example', async () => {
    const { code, out } = await ductor(['run', 'trigger', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('Examples:\n  ductor run trigger hello');
    expect((await ductor(['--help'])).out).toContain('Exit codes: 0 done, 1 failed, 2 wrong usage.');
  });

  it('says that no engine answers, and where it was looked for', async () => {
    const terminal = capturedTerminal();
    const nobody = { DUCTOR_ADDRESS: '127.0.0.1:1', DUCTOR_API_KEY: 'k' };
    expect(await runProgram(['node', 'ductor', 'run', 'list'], nobody, terminal)).toBe(1);
    expect(terminal.complained()).toContain('no engine answers at 127.0.0.1:1 (named by DUCTOR_ADDRESS)');
    expect(terminal.complained()).toContain('ductor dev');
  });

  it('tells a wrong key apart from everything else', async () => {
    const terminal = capturedTerminal();
    expect(await runProgram(['node', 'ductor', 'run', 'list'], { ...env, DUCTOR_API_KEY: 'wrong' }, terminal)).toBe(1);
    expect(terminal.complained()).toContain('[unauthenticated]');
  });
});
