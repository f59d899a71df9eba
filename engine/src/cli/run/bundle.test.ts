/** `ductor run export` and `ductor run replay`, against a whole node and then against none. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../api/grpc/testing/test-node.js';
import { testDatabase } from '../../store/testing/index.js';
import { commandLine, type CommandLine } from '../testing/command-line.js';

const database = testDatabase();
const DEFINITION = {
  family_slug: 'bundled',
  steps: [
    { ref: 'a', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'project', project: { text: 'input.text' } } },
    { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '10ms' } },
  ],
  edges: [{ source_ref: 'a', target_ref: 'pause', type: 'EDGE_TYPE_SUCCESS' }],
  output: 'size(steps.a.output.text)',
};
/** More than a row holds: it stands in the payloads of the run. */
const TEXT = 'x'.repeat(100_000);

let node: TestNode;
let apiKey: string;
let cli: CommandLine;
let folder: string;
/** No engine answers here. */
const alone = commandLine({});

beforeAll(async () => {
  node = await startTestNode(database.db);
  const tenant = await node.tenant('bundles');
  ({ apiKey } = tenant);
  cli = commandLine({ DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey });
  const { id } = await node.registry.create(tenant.tenantId, DEFINITION);
  await node.registry.publish(tenant.tenantId, id, 0);
  folder = mkdtempSync(join(tmpdir(), 'ductor-bundles-'));
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function exported(): Promise<{ readonly runId: string; readonly path: string; readonly text: string }> {
  const input = write('input.json', JSON.stringify({ text: TEXT }));
  const news = (await cli.done('run', 'trigger', 'bundled', '--input', `@${input}`, '--wait', '--json')).trim();
  const { id } = JSON.parse(news.split('\n').at(-1) ?? '') as { readonly id: string };
  const path = join(folder, `${id}.jsonl`);
  expect(await cli.done('run', 'export', id, '--out', path)).toMatch(/: \d+ rows of run /);
  return { runId: id, path, text: readFileSync(path, 'utf8') };
}

describe('a bundle of a run', () => {
  it('is the same over REST, and replays without an engine', async () => {
    const { runId, path, text } = await exported();
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`http://${node.address}/api/runs/${runId}:export`, { headers });
    const lines = (await answer.text()).trim().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(
      text
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    );
    expect(text).toContain('"payload":');
    expect(await alone.done('run', 'replay', path)).toMatch(/^the same: \d+ rows, COMPLETED\n$/);
  });

  it('names the row that another definition makes something else of', async () => {
    const { path } = await exported();
    const other = write('other.json', JSON.stringify({ ...DEFINITION, output: 'size(steps.a.output.text) + 1' }));
    const replay = await alone.run('run', 'replay', path, '--definition', other);
    expect(replay.code).toBe(1);
    expect(replay.out).toMatch(/^not the same: row 2 of 2\n/);
    expect(replay.out).toContain('- run_closed  {"state":"COMPLETED","output":100000}');
    expect(replay.out).toContain('+ run_closed  {"state":"COMPLETED","output":100001}');
    const json = await alone.run('run', 'replay', path, '--definition', other, '--json');
    expect(JSON.parse(json.out)).toMatchObject({ same: false, difference: { seq: 2 } });
  });

  it('is refused when a part of it is missing or was changed', async () => {
    const { text } = await exported();
    const lines = text.trim().split('\n');
    const cut = await alone.run('run', 'replay', write('cut.jsonl', lines.slice(0, -1).join('\n')));
    expect(cut).toMatchObject({ code: 1, err: expect.stringContaining('is no whole bundle of a run') });
    const changed = write('changed.jsonl', text.replace('size(steps.a.output.text)', '1'));
    const replay = await alone.run('run', 'replay', changed);
    expect(replay.err).toContain('the bundle is not whole: definition is not the one of digest');
    const garbled = await alone.run('run', 'replay', write('garbled.jsonl', '{"data": 1}\n'));
    expect(garbled.err).toContain('garbled.jsonl line 1');
  });

  it('is that of a run there is', async () => {
    const missing = await cli.run('run', 'export', '01890a5d-ac96-774b-bcce-b302099a8057');
    expect(missing.err).toContain('there is no run 01890a5d-ac96-774b-bcce-b302099a8057 [not_found]');
  });
});
