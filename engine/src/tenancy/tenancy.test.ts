import { describe, expect, it } from 'vitest';
import { clusterSecret, seededRandom, systemClock, systemRandom } from '../kernel/index.js';
import { manualClock, type ManualClock } from '../kernel/testing/manual-clock.js';
import type { Database, Prepared } from '../store/index.js';
import { testDatabase } from '../store/testing/index.js';
import { newApiKey } from './api-key.js';
import { KEY_TTL_MS, SCOPES, createTenancy, type Principal, type Tenancy } from './index.js';

const test = testDatabase();
const SECRET = 's'.repeat(32);
const OTHER_SECRET = 't'.repeat(32);

interface Fixture {
  readonly clock: ManualClock;
  readonly tenancy: Tenancy;
  readonly tenantId: string;
  /** Statements sent so far, by the label of their name. */
  readonly sent: string[];
  /** Authenticates, running what was deferred. */
  readonly ask: (authorization: string | undefined) => Promise<Principal>;
}

let tenants = 0;

async function fixture(options: { secret?: string; previous?: string } = {}): Promise<Fixture> {
  const clock = manualClock(systemClock().nowUs());
  const sent: string[] = [];
  const db: Database = {
    ...test.db,
    query: (statement: string | Prepared, values) => {
      sent.push(typeof statement === 'string' ? statement : statement.name);
      return test.db.query(statement, values);
    },
  };
  const secret = clusterSecret(options.secret ?? SECRET, options.previous);
  const tenancy = createTenancy({ db, clock, random: systemRandom(), secret });
  const tenantId = await tenancy.ensureTenant(`tenant-${(tenants += 1)}`);
  sent.length = 0;
  const ask = async (authorization: string | undefined): Promise<Principal> => {
    const answer = Promise.resolve().then(() => tenancy.authenticate(authorization));
    await Promise.resolve();
    clock.settle();
    return answer;
  };
  return { clock, tenancy, tenantId, sent, ask };
}

const lookups = (sent: readonly string[]): number => sent.filter((name) => name.startsWith('tenancy_find')).length;

describe('authenticate', () => {
  it('gives the tenant and the scopes of the key, and asks the database once', async () => {
    const { tenancy, tenantId, sent, ask } = await fixture();
    const { apiKey, keyId } = await tenancy.createKey({ tenantId, name: 'k', scopes: ['run:read'] });
    const principal = await ask(`Bearer ${apiKey}`);
    expect(principal).toEqual({ tenantId, principalId: keyId, name: 'k', scopes: new Set(['run:read']) });
    expect(await ask(`bearer ${apiKey}`)).toEqual(principal);
    expect(lookups(sent)).toBe(1);
  });

  it('refuses what is no key before any look at the database', async () => {
    const { sent, ask } = await fixture();
    const key = newApiKey(seededRandom(7));
    for (const text of [undefined, '', 'Bearer', 'Bearer ', `Basic ${key}`, `Bearer ${key}x`, `Bearer ${key} ${key}`]) {
      await expect(ask(text)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    const typo = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    await expect(ask(`Bearer ${typo}`)).rejects.toThrow(/malformed/);
    expect(sent).toEqual([]);
  });

  it('refuses an unknown key, asking for it once while the answer counts', async () => {
    const { clock, sent, ask } = await fixture();
    const key = `Bearer ${newApiKey(seededRandom(8))}`;
    await expect(ask(key)).rejects.toThrow(/not known/);
    await expect(ask(key)).rejects.toThrow(/not known/);
    expect(lookups(sent)).toBe(1);
    clock.advance(KEY_TTL_MS);
    await expect(ask(key)).rejects.toThrow(/not known/);
    expect(lookups(sent)).toBe(2);
  });

  it('looks up a crowd of keys with one query', async () => {
    const { clock, sent, tenancy } = await fixture();
    const asked = Array.from({ length: 150 }, (_, seed) =>
      Promise.resolve(tenancy.authenticate(`Bearer ${newApiKey(seededRandom(100 + seed))}`)).catch(() => 'refused'),
    );
    clock.settle();
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['refused']));
    expect(lookups(sent)).toBe(1);
  });

  it('refuses more than it can look up instead of letting them wait', async () => {
    const { clock, tenancy } = await fixture();
    const asked = Array.from({ length: 2_001 }, (_, seed) =>
      Promise.resolve(tenancy.authenticate(`Bearer ${newApiKey(seededRandom(10_000 + seed))}`)).catch(
        (error: { code: string }) => error.code,
      ),
    );
    clock.settle();
    const codes = await Promise.all(asked);
    expect(codes.filter((code) => code === 'limit_exceeded')).toHaveLength(1);
    expect(codes.filter((code) => code === 'unauthenticated')).toHaveLength(2_000);
  });

  it('refuses an expired key at its end, although it is cached', async () => {
    const { clock, tenancy, tenantId, ask } = await fixture();
    const { apiKey } = await tenancy.createKey({ tenantId, name: 'k', scopes: SCOPES, expiresInMs: 500 });
    await ask(`Bearer ${apiKey}`);
    clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 520));
    await expect(ask(`Bearer ${apiKey}`)).rejects.toThrow(/expired/);
  });

  it('ignores scopes it does not know', async () => {
    const { tenancy, tenantId, ask } = await fixture();
    const { apiKey, keyId } = await tenancy.createKey({ tenantId, name: 'k', scopes: ['run:read'] });
    await test.db.query("update ductor.api_keys set scopes = '{run:read,moon:fly}' where key_id = $1", [keyId]);
    expect((await ask(`Bearer ${apiKey}`)).scopes).toEqual(new Set(['run:read']));
  });

  it('passes a fault of the database on and recovers', async () => {
    const { clock, tenancy, tenantId, ask } = await fixture();
    const { apiKey } = await tenancy.createKey({ tenantId, name: 'k', scopes: SCOPES });
    await test.db.query('alter table ductor.api_keys rename to hidden');
    await expect(ask(`Bearer ${apiKey}`)).rejects.not.toMatchObject({ code: 'unauthenticated' });
    await test.db.query('alter table ductor.hidden rename to api_keys');
    clock.settle();
    expect((await ask(`Bearer ${apiKey}`)).tenantId).toBe(tenantId);
  });
});

describe('revokeKey', () => {
  it('counts at once on this node and within the time to live on another', async () => {
    const { tenancy, tenantId, ask } = await fixture();
    const elsewhere = await fixture();
    const { apiKey, keyId } = await tenancy.createKey({ tenantId, name: 'k', scopes: SCOPES });
    await ask(`Bearer ${apiKey}`);
    await elsewhere.ask(`Bearer ${apiKey}`);
    await tenancy.revokeKey(tenantId, keyId);
    await expect(ask(`Bearer ${apiKey}`)).rejects.toThrow(/revoked/);
    expect((await elsewhere.ask(`Bearer ${apiKey}`)).principalId).toBe(keyId);
    elsewhere.clock.advance(KEY_TTL_MS);
    await expect(elsewhere.ask(`Bearer ${apiKey}`)).rejects.toThrow(/revoked/);
  });

  it('does not reach a key of another tenant', async () => {
    const { tenancy, tenantId, ask } = await fixture();
    const other = await fixture();
    const { apiKey, keyId } = await tenancy.createKey({ tenantId, name: 'k', scopes: SCOPES });
    await expect(tenancy.revokeKey(other.tenantId, keyId)).rejects.toMatchObject({ code: 'not_found' });
    expect((await ask(`Bearer ${apiKey}`)).principalId).toBe(keyId);
  });
});

describe('createKey', () => {
  it('refuses what makes no sense', async () => {
    const { tenancy, tenantId } = await fixture();
    const key = { tenantId, name: 'k', scopes: SCOPES };
    for (const wrong of [{ name: '' }, { name: 'x'.repeat(129) }, { scopes: [] }, { expiresInMs: 0 }]) {
      await expect(tenancy.createKey({ ...key, ...wrong })).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    const nobody = '00000000-0000-7000-8000-000000000000';
    await expect(tenancy.createKey({ ...key, tenantId: nobody })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('leaves nothing of the key in the database', async () => {
    const { tenancy, tenantId } = await fixture();
    const { apiKey, keyId } = await tenancy.createKey({ tenantId, name: 'k', scopes: SCOPES });
    const { rows } = await test.db.query<{ all: string }>(
      "select k::text || encode(key_hash, 'escape') as all from ductor.api_keys k where key_id = $1",
      [keyId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.all).not.toContain(apiKey.slice(3, 20));
  });
});

describe('last use and rotation', () => {
  const untilIdle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

  it('notes the use of a key, at most once a minute', async () => {
    const { clock, tenancy, tenantId, sent, ask } = await fixture();
    const { apiKey, keyId } = await tenancy.createKey({ tenantId, name: 'k', scopes: SCOPES });
    for (let round = 0; round < 3; round += 1) {
      await ask(`Bearer ${apiKey}`);
      clock.advance(KEY_TTL_MS);
      await untilIdle();
    }
    const noted = await test.db.query('select 1 from ductor.api_keys where key_id = $1 and last_used_at is not null', [
      keyId,
    ]);
    expect(noted.rowCount).toBe(1);
    expect(sent.filter((name) => name.startsWith('tenancy_note'))).toHaveLength(1);
  });

  it('takes a key hashed under the previous secret and hashes it anew', async () => {
    const before = await fixture({ secret: SECRET });
    const { apiKey } = await before.tenancy.createKey({ tenantId: before.tenantId, name: 'k', scopes: SCOPES });
    const during = await fixture({ secret: OTHER_SECRET, previous: SECRET });
    expect((await during.ask(`Bearer ${apiKey}`)).tenantId).toBe(before.tenantId);
    during.clock.settle();
    await untilIdle();
    const after = await fixture({ secret: OTHER_SECRET });
    expect((await after.ask(`Bearer ${apiKey}`)).tenantId).toBe(before.tenantId);
    await expect((await fixture({ secret: SECRET })).ask(`Bearer ${apiKey}`)).rejects.toThrow(/not known/);
  });
});

describe('ensureDevelopmentTenant', () => {
  it('keeps the key from start to start, and for a new database', async () => {
    const { tenancy, ask } = await fixture();
    const first = await tenancy.ensureDevelopmentTenant(null);
    expect((await ask(`Bearer ${first.apiKey}`)).scopes).toEqual(new Set(SCOPES));
    expect(await tenancy.ensureDevelopmentTenant(first.apiKey)).toEqual(first);
    const kept = newApiKey(systemRandom());
    expect((await tenancy.ensureDevelopmentTenant(kept)).apiKey).toBe(kept);
    expect((await ask(`Bearer ${kept}`)).tenantId).toBe(first.tenantId);
  });

  it('makes a new key when the kept one is broken or was revoked', async () => {
    const { tenancy, ask } = await fixture();
    const { tenantId, apiKey } = await tenancy.ensureDevelopmentTenant('garbage');
    const { principalId } = await ask(`Bearer ${apiKey}`);
    await tenancy.revokeKey(tenantId, principalId);
    const next = await tenancy.ensureDevelopmentTenant(apiKey);
    expect(next.apiKey).not.toBe(apiKey);
    expect((await ask(`Bearer ${next.apiKey}`)).tenantId).toBe(tenantId);
  });
});
