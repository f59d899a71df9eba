/** Queues of pools over REST, on two nodes that do not hear of each other and look by themselves. */
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { until } from '../support/wait.js';
import { type Data, twoNodes } from '../../engine/src/api/grpc/testing/two-nodes.js';

const database = testDatabase();
const rest = twoNodes(database, 'waits');

/** What queued work came to. */
const comesTo = (decisionId: string): Promise<Data> =>
  until(`work ${decisionId} to leave its queue`, async () => {
    const { decided_as: decided } = await rest('GET', `/api/routing/waiting/${decisionId}`, undefined, 1);
    return typeof decided === 'string' && decided !== '' && rest('GET', `/api/routing/decisions/${decided}:explain`);
  });

describe('work in the queue of a pool', () => {
  it('is listed, counted and explained, and assigned when somebody comes or becomes free', async () => {
    const { id: poolId } = await rest('POST', '/api/pools', { name: 'desk', config: { fallback: { kind: 'queue' } } });
    const routed = (id: string, node = 0): Promise<Data> =>
      rest('POST', '/api/routing/route', { pool_id: poolId, routable: { id }, explain: true }, node);
    const first = await routed('first');
    expect(first).toMatchObject({
      ...{ outcome: 'queued', outcome_class: 'waiting', queued_by: '' },
      explanation: { hops: [{ reason: 'no_eligible_recipient', fallback: 'queue' }] },
    });
    const second = await routed('second', 1);
    const list = await rest('GET', `/api/routing/waiting?pool_id=${poolId}`);
    expect(list).toMatchObject([{ routable_id: 'first' }, { routable_id: 'second' }]);
    expect(await rest('GET', `/api/pools/${poolId}/stats`)).toMatchObject({ queue_depth: 2 });

    const member = { name: 'one', state: 'RECIPIENT_STATE_AVAILABLE', capacity: { max_concurrent: 1 } };
    await rest('POST', `/api/pools/${poolId}/recipients`, member);
    const assigned = await comesTo(first.id);
    expect(assigned).toMatchObject({ outcome: 'assigned', queued_by: first.id, routable_id: 'first' });
    expect(await rest('GET', `/api/pools/${poolId}/stats`)).toMatchObject({ queue_depth: 1 });
    const [assignmentId = ''] = assigned['assignment_ids'] as string[];
    await rest('POST', `/api/assignments/${assignmentId}:complete`, {}, 1);
    const next = await comesTo(second.id);
    expect(next).toMatchObject({ outcome: 'assigned', queued_by: second.id });
    for (const { id } of [first, assigned, next]) {
      expect(await rest('GET', `/api/routing/decisions/${id}:replay`)).toMatchObject({ is_same: true });
    }
    await expect(rest('POST', `/api/routing/waiting/${second.id}:remove`, {})).rejects.toThrow(
      'waiting_state_conflict',
    );
  });
});
