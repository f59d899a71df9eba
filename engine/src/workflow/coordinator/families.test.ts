/** Families through the coordinator: children begin, end and are told to end exactly once, whatever is lost. */
import { describe, expect, it } from 'vitest';
import { CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { edge, outputOf, planOf, RUN_INPUT, type StepSpec } from '../testing/plan-builder.js';
import type { Plan, RunState } from '../machine/index.js';

const WORKER = 'worker-1';

const leaf: Plan = {
  ...planOf({ steps: { work: { type: 'CALLBACK' } }, output: outputOf('work') }),
  familySlug: 'leaf',
};
const leafOf = (more: object = {}): StepSpec => ({
  type: 'SUB_WORKFLOW',
  familySlug: 'leaf',
  input: RUN_INPUT,
  ...more,
});

function planFor(steps: Readonly<Record<string, StepSpec>>, familySlug = 'test'): Plan {
  return { ...planOf({ steps }), familySlug };
}

/** Nodes, and a run of the first plan. */
async function family(plans: readonly Plan[], nodes = 1) {
  const kit = new CoordinatorKit({ plans: [...plans, leaf] });
  const engines = Array.from({ length: nodes }, () => kit.node());
  await kit.pass(3_000, 250);
  const [node] = engines;
  if (node === undefined) throw new TypeError('no node');
  for (const engine of engines) engine.coordinator.workerConnected(WORKER, []);
  const [run] = await kit.start(node, 1);
  await kit.flush();
  const rootId = run?.runId ?? '';
  const states = (): readonly RunState[] =>
    [...kit.db.runs.values()].flatMap(({ header }) => kit.stored(header.runId) ?? []);
  return {
    ...{ kit, engines, node, rootId, states },
    root: () => kit.stored(rootId),
    of: (familySlug: string) => states().filter((state) => state.familySlug === familySlug),
    async answer() {
      for (const engine of engines) kit.settle(engine, kit.take(engine, WORKER));
      await kit.flush();
    },
  };
}

describe('a child run', () => {
  it("begins with its parent's step, knows its family, and its answer is the step's output", async () => {
    const { root, of, answer, rootId, kit } = await family([planFor({ child: leafOf() })]);
    const [child] = of('leaf');
    expect(child).toMatchObject({ version: 1, family: { rootId, parentId: rootId, parentPath: 'child' } });
    expect(root()?.steps.get('child')?.child?.runId).toBe(child?.runId);
    await answer();
    expect([of('leaf')[0]?.status, root()?.status]).toEqual(['COMPLETED', 'COMPLETED']);
    expect(root()?.steps.get('child')?.output).toEqual(of('leaf')[0]?.steps.get('work')?.output);
    expect(kit.db.inbox.size).toBe(0);
    expect(kit.db.violations).toEqual([]);
  });

  it('begins on whatever node owns its shard', async () => {
    const steps = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`c${n}`, leafOf()]));
    const { root, of, answer, kit } = await family([planFor(steps)], 3);
    await kit.pass(2_000, 100);
    expect(of('leaf')).toHaveLength(12);
    await answer();
    await kit.pass(2_000, 100);
    expect(root()?.status).toBe('COMPLETED');
  });

  it('fails its step with its own code', async () => {
    const { root, kit, node } = await family([planFor({ child: leafOf() })]);
    const failure = { kind: 'failed', code: 'NoStock', message: 'sold out', stack: '' } as const;
    for (const ref of kit.take(node, WORKER)) {
      node.coordinator.settle(ref, { ...failure, nonRetryable: true, retryAfterMs: null }, () => undefined);
    }
    await kit.flush();
    expect(root()).toMatchObject({ status: 'FAILED', error: { code: 'NoStock', step: 'child' } });
  });

  it('that cannot be is there to fail, and so does its step', async () => {
    const { root, of } = await family([planFor({ child: leafOf({ familySlug: 'nowhere' }) })]);
    expect(of('nowhere')[0]).toMatchObject({ status: 'FAILED', error: { code: 'workflow_not_published' } });
    expect(root()).toMatchObject({ status: 'FAILED', error: { code: 'workflow_not_published', step: 'child' } });
  });

  it('whose input its version does not allow fails, and so does its step', async () => {
    const strict: Plan = { ...leaf, familySlug: 'strict', checkInput: () => ['input.n: is missing'] };
    const { root } = await family([planFor({ child: leafOf({ familySlug: 'strict' }) }), strict]);
    expect(root()).toMatchObject({ status: 'FAILED', error: { code: 'invalid_argument' } });
  });

  it('that nobody waits for lets its step be done at once, and outlives its parent', async () => {
    const { root, of, answer } = await family([
      planFor({ child: leafOf({ isDetached: true, closePolicy: 'abandon' }) }),
    ]);
    expect(root()?.status).toBe('COMPLETED');
    expect(of('leaf')[0]?.status).toBe('RUNNING');
    await answer();
    expect(of('leaf')[0]?.status).toBe('COMPLETED');
  });
});

describe('the end of a parent', () => {
  const middle = planFor({ low: leafOf(), own: { type: 'CALLBACK' } }, 'middle');
  const tree = planFor({ a: leafOf({ familySlug: 'middle' }), b: leafOf() });

  it('by a cancel reaches every descendant, and it is CANCELLED only when all of them have ended', async () => {
    const { kit, node, root, rootId, states } = await family([tree, middle]);
    expect(states()).toHaveLength(4);
    const refs = kit.take(node, WORKER);
    await Promise.all([node.coordinator.cancel({ tenantId: TENANT, runId: rootId }, 'enough', 'ada'), kit.flush()]);
    expect(states().map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'CANCELLING'));
    const [last, ...others] = refs;
    kit.settle(node, others, { kind: 'cancelled' });
    await kit.flush();
    expect(root()?.status).toBe('CANCELLING');
    if (last !== undefined) kit.settle(node, [last], { kind: 'cancelled' });
    await kit.flush();
    expect(states().map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'CANCELLED'));
    expect(kit.db.inbox.size).toBe(0);
  });

  it('by a termination tells its children as their policy says', async () => {
    const policies = ['cancel', 'terminate', 'abandon'] as const;
    const steps = Object.fromEntries(policies.map((closePolicy) => [closePolicy, leafOf({ closePolicy })]));
    const { kit, node, root, rootId, of } = await family([planFor(steps)]);
    kit.take(node, WORKER);
    await Promise.all([node.coordinator.terminate({ tenantId: TENANT, runId: rootId }, 'now', 'ada'), kit.flush()]);
    expect(root()?.status).toBe('TERMINATED');
    const byStep = Object.fromEntries(of('leaf').map(({ family: link, status }) => [link?.parentPath, status]));
    expect(byStep).toEqual({ cancel: 'CANCELLING', terminate: 'TERMINATED', abandon: 'RUNNING' });
  });

  it('tells a child that nobody waits for, when it is to end with its parent', async () => {
    const steps = { child: leafOf({ isDetached: true, closePolicy: 'terminate' }), own: { type: 'CALLBACK' } as const };
    const { kit, node, root, of } = await family([planFor(steps)]);
    kit.settle(
      node,
      kit.take(node, WORKER).filter(({ path }) => path === 'own'),
    );
    await kit.flush();
    expect([root()?.status, of('leaf')[0]?.status]).toEqual(['COMPLETED', 'TERMINATED']);
  });

  it('lets go of an abandoned child when it is cancelled', async () => {
    const { kit, node, root, rootId, of } = await family([planFor({ child: leafOf({ closePolicy: 'abandon' }) })]);
    await Promise.all([node.coordinator.cancel({ tenantId: TENANT, runId: rootId }, '', 'ada'), kit.flush()]);
    expect([root()?.status, of('leaf')[0]?.status]).toEqual(['CANCELLED', 'RUNNING']);
  });
});

describe('a crash', () => {
  it('between the row of the parent and the beginning of the child loses nothing and doubles nothing', async () => {
    const kit = new CoordinatorKit({ plans: [planFor({ a: { type: 'CALLBACK' }, ...{ c: leafOf() } }), leaf] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    // The mailbox cannot be read: the child does not begin here.
    node.fault = ({ store, method }) => (store === 'inbox' && method === 'read' ? { kind: 'lost_before' } : null);
    const [run] = await kit.start(node, 1);
    await kit.flush();
    expect([kit.db.runs.size, kit.db.inbox.size]).toEqual([1, 1]);
    kit.kill(node);
    const other = kit.node();
    await kit.pass(10_000, 500);
    expect([kit.db.runs.size, kit.db.inbox.size]).toEqual([2, 0]);
    other.coordinator.workerConnected(WORKER, []);
    await kit.pass(20_000, 500);
    for (let round = 0; round < 3; round += 1) {
      kit.settle(other, kit.take(other, WORKER));
      await kit.pass(2_000, 500);
    }
    expect(kit.stored(run?.runId ?? '')?.status).toBe('COMPLETED');
    expect(kit.db.runs.size).toBe(2);
  });

  it('with an answer lost at each commit in turn loses nothing and doubles nothing', async () => {
    const plan = { ...planOf({ steps: { c: leafOf(), d: leafOf() }, edges: [edge('c', 'd')] }), familySlug: 'test' };
    for (const kind of ['lost_before', 'lost_after'] as const) {
      for (let at = 0; at < 6; at += 1) {
        const kit = new CoordinatorKit({ plans: [plan, leaf] });
        const node = kit.node();
        await kit.flush();
        node.coordinator.workerConnected(WORKER, []);
        node.commitFaults.push(...Array.from({ length: at }, () => null), { kind });
        const [run] = await kit.start(node, 1);
        for (let round = 0; round < 8; round += 1) {
          kit.settle(node, kit.take(node, WORKER));
          await kit.pass(1_000, 250);
        }
        expect([at, kit.stored(run?.runId ?? '')?.status]).toEqual([at, 'COMPLETED']);
        expect([kit.db.runs.size, kit.db.inbox.size, kit.db.violations]).toEqual([3, 0, []]);
      }
    }
  });
});
