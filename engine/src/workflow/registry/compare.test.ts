import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { seededRandom, systemClock, uuidV7 } from '../../kernel/index.js';
import { testDatabase } from '../../store/testing/index.js';
import type { Definition } from '../definition/index.js';
import { createWorkflowRegistry, type WorkflowRegistry } from './index.js';

const test = testDatabase();
const cel = createCelCompiler();
const clock = systemClock();
const random = seededRandom(11);
const newId = (): string => uuidV7(1_700_000_000_000_000, random);
const registryOn = (): WorkflowRegistry => createWorkflowRegistry({ db: test.db, clock, cel, newId });

const definition = (title: string, handler: string): Definition => ({
  family_slug: 'flow',
  title,
  steps: [{ ref: 'a', type: 'STEP_TYPE_CALLBACK', args: { handler } }],
});

/** A workflow with versions 1 and 2, both published by a worker. */
async function published(): Promise<{ readonly registry: WorkflowRegistry; readonly tenant: string }> {
  const [registry, tenant] = [registryOn(), newId()];
  await registry.register(tenant, definition('One', 'first'));
  await registry.register(tenant, definition('Two', 'second'));
  return { registry, tenant };
}

describe('promote', () => {
  it('moves the current version and its title, on all nodes at once, and stays with it', async () => {
    const { registry, tenant } = await published();
    const before = await registry.get(tenant, 'flow');
    const after = await registry.promote(tenant, 'flow', 1, before.recordVersion);
    expect(after).toMatchObject({ currentVersion: 1, title: 'One', recordVersion: before.recordVersion + 1 });
    expect(await registryOn().currentVersion(tenant, 'flow')).toBe(1);
    // A worker that registers what is known moves nothing.
    expect(await registry.register(tenant, definition('Two', 'second'))).toMatchObject({ version: 2, isNew: false });
    expect(await registry.currentVersion(tenant, 'flow')).toBe(1);
    expect((await registry.register(tenant, definition('Three', 'third'))).version).toBe(3);
    expect(await registry.currentVersion(tenant, 'flow')).toBe(3);
  });

  it('changes nothing where it is so already', async () => {
    const { registry, tenant } = await published();
    const before = await registry.get(tenant, 'flow');
    expect(await registry.promote(tenant, 'flow', 2, 0)).toEqual(before);
  });

  it('refuses versions that were never published, foreign workflows, and a record that has moved on', async () => {
    const { registry, tenant } = await published();
    await expect(registry.promote(tenant, 'flow', 3, 0)).rejects.toMatchObject({ code: 'not_found' });
    await expect(registry.promote(newId(), 'flow', 1, 0)).rejects.toMatchObject({ code: 'not_found' });
    await expect(registry.promote(tenant, 'flow', 1, 99)).rejects.toMatchObject({ code: 'version_conflict' });
    expect(await registry.currentVersion(tenant, 'flow')).toBe(2);
  });
});

describe('diff', () => {
  it('compares versions with one another and with the draft', async () => {
    const { registry, tenant } = await published();
    const paths = async (from: number, to: number): Promise<readonly string[]> =>
      (await registry.diff(tenant, 'flow', from, to)).changes.map(({ path }) => path);
    expect(await paths(1, 2)).toEqual(['steps[a].args.handler', 'title']);
    expect(await paths(0, 2)).toEqual([]);
    await expect(paths(0, 0)).rejects.toMatchObject({ code: 'not_found', message: 'flow has no draft' });
    await registry.updateDraft(tenant, 'flow', definition('Draft', 'second'));
    expect(await paths(0, 0)).toEqual(['title']);
    expect(await registry.diff(tenant, 'flow', 0, 0)).toMatchObject({ fromVersion: 2, toVersion: 0 });
  });

  it('tells what was never published as all new', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    await registry.create(tenant, definition('One', 'first'));
    const { fromVersion, changes } = await registry.diff(tenant, 'flow', 0, 0);
    expect(fromVersion).toBe(0);
    expect(changes.map(({ kind, path }) => `${kind} ${path}`)).toEqual(['added steps[a]', 'added title']);
  });

  it('knows nothing of versions and workflows that are not there', async () => {
    const { registry, tenant } = await published();
    await expect(registry.diff(tenant, 'flow', 1, 9)).rejects.toMatchObject({ code: 'not_found' });
    await expect(registry.diff(newId(), 'flow', 1, 2)).rejects.toMatchObject({ code: 'not_found' });
  });
});
