import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/index.js';
import { manualClock, type ManualClock } from '../../kernel/testing/manual-clock.js';
import { testDatabase } from '../../store/testing/index.js';
import { auditTrail, type AuditTrail } from './audit-trail.js';
import type { AuditEntry } from './deed.js';

const test = testDatabase();

interface Fixture {
  readonly clock: ManualClock;
  readonly trail: AuditTrail;
  readonly tenantId: string;
  readonly errors: unknown[];
  readonly entry: (objectId: string) => AuditEntry;
  /** Object ids of the rows that are there. */
  readonly rows: () => Promise<readonly unknown[]>;
}

function fixture(): Fixture {
  const clock = manualClock(systemClock().nowUs());
  const errors: unknown[] = [];
  const trail = auditTrail({ db: test.db, clock, onError: (error) => errors.push(error) });
  const tenantId = randomUUID();
  const entry = (objectId: string): AuditEntry => ({
    ...{ tenantId, actorId: randomUUID(), actor: 'k', method: '/x/Y', reason: '' },
    ...{ objectKind: 'run', objectId, outcome: 'not_found' },
  });
  const rows = async (): Promise<readonly unknown[]> => {
    const found = await test.db.query(
      'select object_id from ductor.audit where tenant_id = $1 order by at, object_id',
      [tenantId],
    );
    return found.rows.map((row) => row['object_id']);
  };
  return { clock, trail, tenantId, errors, entry, rows };
}

const until = async (look: () => Promise<boolean>): Promise<void> => {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('auditTrail', () => {
  it('gathers rows for a moment and writes them together', async () => {
    const { clock, trail, entry, rows } = fixture();
    trail.note(entry('one'));
    trail.note(entry('two'));
    expect(await rows()).toEqual([]);
    clock.advance(50);
    await until(async () => (await rows()).length > 0);
    expect(await rows()).toHaveLength(2);
  });

  it('writes what waits when it is told to', async () => {
    const { trail, entry, rows } = fixture();
    for (let n = 0; n < 2_500; n += 1) trail.note(entry(String(n)));
    await trail.flush();
    expect(await rows()).toHaveLength(2_500);
  });

  it('tries again what the database did not take', async () => {
    const { clock, trail, entry, rows, errors } = fixture();
    await test.db.query('alter table ductor.audit rename to hidden');
    trail.note(entry('late'));
    clock.advance(50);
    await until(() => Promise.resolve(errors.length === 1));
    await test.db.query('alter table ductor.hidden rename to audit');
    trail.note(entry('later'));
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.advance(50);
    await until(async () => (await rows()).length === 2);
    expect(await rows()).toEqual(['late', 'later']);
    expect(errors).toHaveLength(1);
  });

  it('holds so many rows and no more, and says how many it dropped', async () => {
    const { trail, entry, rows, errors } = fixture();
    for (let n = 0; n < 20_003; n += 1) trail.note(entry(String(n)));
    await trail.flush();
    expect(await rows()).toHaveLength(20_000);
    expect(errors).toMatchObject([{ code: 'limit_exceeded', message: expect.stringContaining('3 audit rows') }]);
  });

  it('takes any text', async () => {
    const { trail, entry, rows } = fixture();
    trail.note(entry(`a\0b\ud800${'x'.repeat(5_000)}`));
    await trail.flush();
    expect(await rows()).toEqual([expect.stringMatching(/^a\ufffdb\ufffdx{1020}…$/)]);
  });
});
