import { describe, expect, it } from 'vitest';
import { some } from '../testing/seen.js';
import { tenantId } from '../testing/tasks.js';
import { KIND } from '../testing/two-nodes.js';
import { FairQueue } from './fair-queue.js';

const capability = {
  tenantId: tenantId(1),
  queues: ['default'],
  workflows: [{ familySlug: 'flow', handlers: ['work'], pinnedVersion: null }],
};

describe('what is lacking', () => {
  it('is named once a kind, for each tenant, until a session that counts serves it', () => {
    const queue = new FairQueue<string>();
    for (const task of [...some(2), ...some(1, 10, { priority: 1 }), ...some(1, 20, { tenantId: tenantId(2) })]) {
      queue.push(task);
    }
    queue.push({ ...(some(1, 30)[0] ?? expect.fail()), queue: 'other' });
    const all = queue.lacking(() => true);
    expect(all.map(({ tenantId: tenant, kinds }) => [tenant, kinds.length])).toEqual([
      [tenantId(1), 2],
      [tenantId(2), 1],
    ]);
    queue.join('session', capability);
    expect(queue.lacking(() => true)[0]?.kinds).toEqual([{ ...KIND, queue: 'other' }]);
    expect(queue.depth()).toEqual({ ready: 0, noRoom: 3, noWorker: 2 });
  });

  it('is also what sessions that do not count serve and have no room for', () => {
    const queue = new FairQueue<string>();
    for (const task of some(3)) queue.push(task);
    const lent = queue.join('lent', capability);
    expect(queue.lacking((session) => session !== 'lent')).toHaveLength(1);
    queue.setRoom(lent, 1);
    expect(queue.lacking((session) => session !== 'lent')).toEqual([]);
    expect(queue.depth().ready).toBe(3);
    expect(queue.sessionsFor(tenantId(1), KIND)).toEqual(['lent']);
    expect(queue.sessionsFor(tenantId(2), KIND)).toEqual([]);
  });
});
