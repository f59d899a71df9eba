import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { DuctorError, seededRandom, systemClock, uuidV7 } from '../../kernel/index.js';
import { openDatabase, type TenantAccess, type Transactor } from '../../store/index.js';
import { testDatabase } from '../../store/testing/index.js';
import type { Definition } from '../definition/index.js';
import { createWorkflowRegistry, type WorkflowRegistry } from './index.js';

const test = testDatabase();
const cel = createCelCompiler();
const clock = systemClock();
const random = seededRandom(7);
const newId = (): string => uuidV7(1_700_000_000_000_000, random);

/** A node's registry; each test uses a tenant of its own. */
function registryOn(db: TenantAccess = test.db): WorkflowRegistry {
  return createWorkflowRegistry({ db, clock, cel, newId });
}

function definition(slug: string, output = '"v1"', more: Partial<Definition> = {}): Definition {
  return {
    family_slug: slug,
    title: `Flow ${slug}`,
    steps: [{ ref: 'a', type: 'STEP_TYPE_CALLBACK' }],
    output,
    ...more,
  };
}

const failing = (code: string, message?: RegExp): unknown =>
  expect.objectContaining({ code, ...(message === undefined ? {} : { message: expect.stringMatching(message) }) });

/** Counts statements on their way to the database. */
function counting(db: TenantAccess): TenantAccess & { readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    asTenant: (tenantId) => {
      const tenant = db.asTenant(tenantId);
      return {
        query: (statement, values) => {
          sent.push(typeof statement === 'string' ? statement : statement.name);
          return tenant.query(statement, values);
        },
        transaction: (work) => tenant.transaction(work),
      };
    },
  };
}

describe('drafts', () => {
  it('are created, read by id and by slug, listed and replaced', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    const made = await registry.create(tenant, definition('flow'));
    expect(made).toMatchObject({ familySlug: 'flow', title: 'Flow flow', currentVersion: 0, recordVersion: 1 });
    expect(made.draft).toEqual(definition('flow'));
    expect(made.createdAtUs).toBeGreaterThan(1.7e15);
    expect(await registry.get(tenant, 'flow')).toEqual(made);
    expect(await registry.get(tenant, made.id)).toEqual(made);
    const updated = await registry.updateDraft(tenant, 'flow', definition('flow', '"v2"', { title: 'New' }));
    expect(updated).toMatchObject({ id: made.id, title: 'New', recordVersion: 2, currentVersion: 0 });
    expect(updated.draft?.output).toBe('"v2"');
    expect(updated.updatedAtUs).toBeGreaterThan(made.updatedAtUs);
  });

  it('may be incomplete, but not nameless, and keep every text', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    const odd = definition('odd', 'broken (', { steps: [{ ref: '', type: '', title: 'NUL \0, half \ud800' }] });
    expect((await registry.create(tenant, odd)).draft).toEqual(odd);
    await expect(registry.create(tenant, definition('Bad Slug'))).rejects.toThrow(failing('invalid_definition'));
    await expect(registry.create(tenant, definition('ok', '1', { title: 'two\nlines' }))).rejects.toThrow(
      failing('invalid_definition', /^title/),
    );
    await expect(registry.updateDraft(tenant, 'odd', definition('other'))).rejects.toThrow(
      failing('invalid_definition', /^family_slug/),
    );
  });

  it('have one slug each, within their tenant only', async () => {
    const [registry, tenant, other] = [registryOn(), newId(), newId()];
    const made = await registry.create(tenant, definition('flow'));
    await expect(registry.create(tenant, definition('flow'))).rejects.toThrow(failing('workflow_exists', /"flow"/));
    expect((await registry.create(other, definition('flow'))).id).not.toBe(made.id);
    await expect(registry.get(other, made.id)).rejects.toThrow(failing('not_found'));
    for (const name of ['none', '', 'No Slug', newId(), 'x'.repeat(5000)]) {
      await expect(registry.get(tenant, name)).rejects.toThrow(failing('not_found'));
    }
  });

  it('are listed by slug in pages', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    for (const slug of ['b', 'a-b', 'a', 'ab', 'c']) await registry.create(tenant, definition(slug));
    const slugs = async (after: string): Promise<readonly string[]> =>
      (await registry.list(tenant, after, 3)).map(({ familySlug }) => familySlug);
    expect(await slugs('')).toEqual(['a', 'a-b', 'ab']);
    expect(await slugs('ab')).toEqual(['b', 'c']);
    expect(await registry.list(newId(), '', 3)).toEqual([]);
  });
});

describe('publish', () => {
  it('makes immutable versions; known content answers its version and moves nothing', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    await registry.create(tenant, definition('flow'));
    const first = await registry.publish(tenant, 'flow', 1);
    expect(first).toMatchObject({ currentVersion: 1, recordVersion: 2, published: { version: 1, isNew: true } });
    const again = await registry.publish(tenant, 'flow', 0);
    expect(again).toMatchObject({ currentVersion: 1, recordVersion: 2, published: { version: 1, isNew: false } });
    await registry.updateDraft(tenant, 'flow', definition('flow', '"v2"'));
    expect(await registry.publish(tenant, 'flow', 3)).toMatchObject({ currentVersion: 2, published: { version: 2 } });
    // Back to the content of version 1, written in another order and with a field that says nothing.
    const { steps, ...rest } = definition('flow');
    await registry.updateDraft(tenant, 'flow', { steps, edges: [], ...rest });
    expect(await registry.publish(tenant, 'flow', 0)).toMatchObject({
      currentVersion: 2,
      published: { ...first.published, isNew: false },
    });
    const versions = await registry.versions(tenant, 'flow', 0, 10);
    expect(versions.map(({ version, definition: { output } }) => [version, output])).toEqual([
      [2, '"v2"'],
      [1, '"v1"'],
    ]);
    expect(versions[1]?.digest).toBe(first.published.digest);
    expect((await registry.versions(tenant, 'flow', 2, 10)).map(({ version }) => version)).toEqual([1]);
  });

  it('refuses what cannot run, with everything that is wrong', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    await registry.create(tenant, definition('flow', 'inptu.x', { steps: [{ ref: 'a', type: 'STEP_TYPE_WAIT' }] }));
    const refused: unknown = await registry.publish(tenant, 'flow', 0).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'invalid_definition' });
    expect(refused).toHaveProperty('details', [
      expect.objectContaining({ path: 'steps[0].args' }),
      expect.objectContaining({ path: 'output' }),
    ]);
    expect(await registry.versions(tenant, 'flow', 0, 10)).toEqual([]);
    await expect(registry.publish(tenant, 'none', 0)).rejects.toThrow(failing('not_found'));
  });

  it('refuses a record that changed since it was read, naming the current one', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    await registry.create(tenant, definition('flow'));
    await registry.updateDraft(tenant, 'flow', definition('flow', '"v2"'));
    await expect(registry.publish(tenant, 'flow', 1)).rejects.toThrow(
      failing('version_conflict', /record_version 2, not 1/),
    );
  });
});

describe('register', () => {
  it('publishes what is new, makes the workflow if need be, and leaves drafts alone', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    expect(await registry.register(tenant, definition('flow'))).toMatchObject({ version: 1, isNew: true });
    expect(await registry.register(tenant, definition('flow'))).toMatchObject({ version: 1, isNew: false });
    expect(await registry.register(tenant, definition('flow', '"v2"'))).toMatchObject({ version: 2, isNew: true });
    // An old worker comes back: its content is known, so nothing moves.
    expect(await registry.register(tenant, definition('flow'))).toMatchObject({ version: 1, isNew: false });
    expect(await registry.get(tenant, 'flow')).toMatchObject({ currentVersion: 2, draft: null, title: 'Flow flow' });
    await expect(registry.publish(tenant, 'flow', 0)).rejects.toThrow(failing('invalid_definition', /no draft/));
    await expect(registry.register(tenant, { family_slug: 'flow' })).rejects.toThrow(failing('invalid_definition'));
  });

  it('costs one statement when nothing is new', async () => {
    const [db, tenant] = [counting(test.db), newId()];
    await registryOn(db).register(tenant, definition('flow'));
    db.sent.length = 0;
    await registryOn(db).register(tenant, definition('flow'));
    expect(db.sent).toHaveLength(1);
  });

  it('makes one version of content that many nodes register at once, and numbers without a gap', async () => {
    const tenant = newId();
    const pools = Array.from({ length: 3 }, () => openDatabase({ url: test.url, applicationName: 'ductor test node' }));
    try {
      const nodes = pools.map((db) => registryOn(db));
      const outputs = ['"a"', '"b"', '"c"', '"d"'];
      const calls = Array.from({ length: 48 }, (_, index) => {
        const node = nodes[index % 3] ?? registryOn();
        return node.register(tenant, definition('flow', outputs[Math.floor(index / 12)]));
      });
      const published = await Promise.all(calls);
      for (const output of [0, 1, 2, 3]) {
        const same = published.slice(output * 12, output * 12 + 12);
        expect(new Set(same.map(({ version, digest }) => `${version} ${digest}`)).size).toBe(1);
        expect(same.filter(({ isNew }) => isNew)).toHaveLength(1);
      }
      const versions = await registryOn().versions(tenant, 'flow', 0, 100);
      expect(versions.map(({ version }) => version)).toEqual([4, 3, 2, 1]);
      expect(await registryOn().currentVersion(tenant, 'flow')).toBe(4);
      expect(await registryOn().list(tenant, '', 10)).toHaveLength(1);
    } finally {
      for (const pool of pools) await pool.close();
    }
  });
});

describe('currentVersion', () => {
  it('says what is there, and what is not', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    await registry.create(tenant, definition('flow'));
    await expect(registry.currentVersion(tenant, 'none')).rejects.toThrow(failing('not_found'));
    await expect(registry.currentVersion(tenant, 'flow')).rejects.toThrow(failing('workflow_not_published', /flow/));
    await registry.publish(tenant, 'flow', 0);
    expect(await registry.currentVersion(tenant, 'flow')).toBe(1);
  });

  it('sees a publish through another node at once', async () => {
    const [here, there, tenant] = [registryOn(), registryOn(), newId()];
    for (let version = 1; version <= 5; version += 1) {
      await there.register(tenant, definition('flow', `"v${version}"`));
      expect(await here.currentVersion(tenant, 'flow')).toBe(version);
    }
  });

  it('answers a publish only when no node uses the old version any more, and asks seldom in between', async () => {
    const db = counting(test.db);
    const [here, there, tenant] = [registryOn(db), registryOn(), newId()];
    await there.register(tenant, definition('flow'));
    const seen: number[] = [];
    let isPublished = false;
    const publishing = there.register(tenant, definition('flow', '"v2"')).then(() => {
      isPublished = true;
    });
    while (!isPublished) {
      seen.push(await here.currentVersion(tenant, 'flow'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await publishing;
    expect(await here.currentVersion(tenant, 'flow')).toBe(2);
    expect(seen.length).toBeGreaterThan(20);
    expect(db.sent.length).toBeLessThan(seen.length / 4);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it('asks once for all lookups of a turn, and once more for those that come meanwhile', async () => {
    const [db, tenant] = [counting(test.db), newId()];
    const registry = registryOn(db);
    await registry.register(tenant, definition('a'));
    await registry.register(tenant, definition('b'));
    db.sent.length = 0;
    const first = ['a', 'b', 'a', 'none'].map((slug) => registry.currentVersion(tenant, slug).catch(() => -1));
    await new Promise((resolve) => setImmediate(resolve));
    const second = ['b', 'a'].map((slug) => registry.currentVersion(tenant, slug));
    expect(await Promise.all(first)).toEqual([1, 1, 1, -1]);
    expect(await Promise.all(second)).toEqual([1, 1]);
    expect(db.sent).toHaveLength(2);
  });

  it('refuses lookups beyond its bound instead of piling them up', async () => {
    const tenant = newId();
    const registry = registryOn();
    const lookups = await Promise.allSettled(
      Array.from({ length: 10_001 }, () => registry.currentVersion(tenant, 'none')),
    );
    const codes = lookups.map((one) => (one.status === 'rejected' ? DuctorError.from(one.reason).code : ''));
    expect(codes.filter((code) => code === 'limit_exceeded')).toHaveLength(1);
    expect(codes.filter((code) => code === 'not_found')).toHaveLength(10_000);
  });

  it('fails all who wait when the database does, and works again afterwards', async () => {
    const tenant = newId();
    let isDown = true;
    const inner = test.db.asTenant(tenant);
    const flaky: Transactor = {
      transaction: (work) => inner.transaction(work),
      query: (statement, values) =>
        isDown ? Promise.reject(new TypeError('cut off')) : inner.query(statement, values),
    };
    const registry = registryOn({ asTenant: () => flaky });
    const lost = await Promise.allSettled([registry.currentVersion(tenant, 'a'), registry.currentVersion(tenant, 'b')]);
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isDown = false;
    await registry.register(tenant, definition('a'));
    expect(await registry.currentVersion(tenant, 'a')).toBe(1);
  });
});

describe('planSource', () => {
  it('loads and compiles a version once, however many ask, and keeps it', async () => {
    const [db, tenant] = [counting(test.db), newId()];
    const registry = registryOn(db);
    const { digest } = await registry.register(tenant, definition('flow'));
    db.sent.length = 0;
    const { planSource } = registry;
    expect(planSource.peek(tenant, 'flow', 1)).toBeUndefined();
    const plans = await Promise.all([1, 2, 3].map(() => planSource.load(tenant, 'flow', 1)));
    expect(plans[0]).toMatchObject({ familySlug: 'flow', version: 1, digest });
    expect(new Set(plans).size).toBe(1);
    expect(planSource.peek(tenant, 'flow', 1)).toBe(plans[0]);
    expect(await planSource.load(tenant, 'flow', 1)).toBe(plans[0]);
    expect(db.sent).toHaveLength(1);
  });

  it('answers undefined for what is not there, and asks again', async () => {
    const [registry, tenant] = [registryOn(), newId()];
    expect(await registry.planSource.load(tenant, 'flow', 1)).toBeUndefined();
    await registry.register(tenant, definition('flow'));
    expect((await registry.planSource.load(tenant, 'flow', 1))?.version).toBe(1);
    expect(await registry.planSource.load(newId(), 'flow', 1)).toBeUndefined();
    expect(await registry.planSource.load(tenant, 'flow', 2)).toBeUndefined();
  });

  it('keeps only as much as it may, least recently used first', async () => {
    const tenant = newId();
    const bytes = Buffer.byteLength(JSON.stringify(definition('flow')));
    const registry = createWorkflowRegistry({ db: test.db, clock, cel, newId, maxBytes: bytes * 2 });
    for (let version = 1; version <= 3; version += 1)
      await registry.register(tenant, definition('flow', `"v${version}"`));
    const kept = (): readonly boolean[] =>
      [1, 2, 3].map((version) => registry.planSource.peek(tenant, 'flow', version) !== undefined);
    await registry.planSource.load(tenant, 'flow', 1);
    await registry.planSource.load(tenant, 'flow', 2);
    expect(kept()).toEqual([true, true, false]);
    registry.planSource.peek(tenant, 'flow', 1);
    await registry.planSource.load(tenant, 'flow', 3);
    expect([2, 1, 3].map((version) => registry.planSource.peek(tenant, 'flow', version) !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });
});
