import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { changed, indexing } from '../../docs/patterns/debounce.js';
import { patternWorld } from '../support/pattern-world.js';

const indexed: [document: string, revision: number][] = [];
const workflow = indexing(async (document, revision) => {
  indexed.push([document, revision]);
  await Promise.resolve();
});
const client = await patternWorld([workflow]);

describe('the debounce', () => {
  it('indexes the last of many changes once, and begins anew with the next change', async () => {
    const first = await changed(client, workflow, 'report', 1, '5s');
    expect(first.existing).toBe(false);
    for (let revision = 2; revision <= 10; revision += 1) {
      const run = await changed(client, workflow, 'report', revision, '5s');
      expect([run.id, run.existing]).toEqual([first.id, true]);
      await sleep(20);
    }
    await expect(first.result({ timeoutMs: 20_000 })).resolves.toBe(10);
    const next = await changed(client, workflow, 'report', 11, '100ms');
    expect(next.existing).toBe(false);
    await expect(next.result({ timeoutMs: 20_000 })).resolves.toBe(11);
    expect(indexed).toEqual([
      ['report', 10],
      ['report', 11],
    ]);
  });

  it('keeps documents apart', async () => {
    const runs = await Promise.all(['a', 'b', 'c'].map((name) => changed(client, workflow, name, 1, '100ms')));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(3);
    await Promise.all(runs.map((run) => run.result({ timeoutMs: 20_000 })));
  });
});
