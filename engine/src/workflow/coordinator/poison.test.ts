/** Results that the database refuses, of runs that nobody looks after any more: they must not be parked. */
import { describe, expect, it } from 'vitest';
import { jsonValue } from '../machine/index.js';
import { CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { edge, planOf } from '../testing/plan-builder.js';

const WORKER = 'worker-1';
const refusesVenom = ({ entries }: { readonly entries: Uint8Array }): string | null =>
  Buffer.from(entries).includes('venom') ? '22P05' : null;
const VENOM = { kind: 'completed', output: jsonValue('venom') } as const;

describe('a run that nobody looks after any more', () => {
  it.each(['cancelled', 'timed out'])(
    'takes poison for a failure in a run that is %s: it comes to its end',
    async (how) => {
      const plan = planOf({ steps: { a: { type: 'CALLBACK' } }, timeoutMs: 60_000 });
      const kit = new CoordinatorKit({ plans: [plan], refuses: refusesVenom });
      const node = kit.node();
      await kit.flush();
      node.coordinator.workerConnected(WORKER, []);
      const [run] = await kit.start(node, 1);
      const refs = kit.take(node, WORKER);
      const key = { tenantId: TENANT, runId: run?.runId ?? '' };
      if (how === 'cancelled') void node.coordinator.cancel(key, 'enough', 'test');
      else await kit.pass(61_000, 500);
      await kit.flush();
      expect(kit.stored(key.runId)?.steps.get('a')?.status).toBe('CANCELLING');
      const acks = kit.settle(node, refs, VENOM);
      await kit.flush();
      expect(acks).toEqual(['recorded']);
      const state = kit.stored(key.runId);
      expect(state?.status).toBe(how === 'cancelled' ? 'CANCELLED' : 'TIMED_OUT');
      expect(state?.steps.get('a')?.error?.code).toBe('poison_commit');
    },
  );

  it('takes poison for a failure of a compensation, too, and drops it when even that is refused', async () => {
    const undo = { type: 'CALLBACK', compensates: { sourceRef: 'a', condition: null } } as const;
    const plan = planOf({ steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, undo }, edges: [edge('a', 'b')] });
    let isFailureRefused = false;
    const refuses = ({ entries }: { readonly entries: Uint8Array }): string | null =>
      isFailureRefused && Buffer.from(entries).includes('poison_commit') ? '22P05' : refusesVenom({ entries });
    const kit = new CoordinatorKit({ plans: [plan], refuses });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const key = { tenantId: TENANT, runId: run?.runId ?? '' };
    kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    const refs = kit.take(node, WORKER);
    void node.coordinator.cancel(key, 'enough', 'test');
    await kit.flush();
    kit.settle(node, refs, { kind: 'cancelled' });
    await kit.flush();
    const undoing = kit.take(node, WORKER);
    expect(undoing).toMatchObject([{ path: 'undo' }]);
    isFailureRefused = true;
    const acks = kit.settle(node, undoing, VENOM);
    await kit.flush();
    expect(acks).toEqual(['already_settled']);
    isFailureRefused = false;
    kit.settle(node, undoing, VENOM);
    await kit.flush();
    expect(kit.stored(key.runId)?.status).toBe('CANCELLED');
    expect(kit.stored(key.runId)?.steps.get('undo')).toMatchObject({
      status: 'FAILED',
      error: { code: 'poison_commit' },
    });
  });
});
