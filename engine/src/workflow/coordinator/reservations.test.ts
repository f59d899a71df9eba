/** Runs that select, on the coordinator with stores in memory. */
import { describe, expect, it } from 'vitest';
import { recipientOf } from '../../routing/testing/decision-kit.js';
import { TENANT } from '../testing/coordinator-kit.js';
import type { ExpressionScope } from '../machine/index.js';
import { market, WORKER } from '../testing/market.js';
import { edge, template, type PlanSpec, type StepSpec } from '../testing/plan-builder.js';

const SELECT: StepSpec = { type: 'SELECT', pool: 'buyers', slateSize: 1 };
const thenCall = (more: object = {}): PlanSpec => {
  return { steps: { buyers: { ...SELECT, ...more }, post: { type: 'CALLBACK' } }, edges: [edge('buyers', 'post')] };
};
const LEAF: PlanSpec = { steps: { work: { type: 'CALLBACK' } } };

function turnOf({ input }: ExpressionScope): number {
  const given = input();
  return typeof given === 'object' && given !== null && 'turn' in given ? Number(given.turn) : 1;
}

/** Selects in each of so many turns, and asks an app in between. */
function turns(count: number): PlanSpec {
  return {
    steps: {
      buyers: SELECT,
      ask: { type: 'CALLBACK' },
      again: { type: 'CONTINUE_AS_NEW', input: template((scope) => ({ turn: turnOf(scope) + 1 })) },
    },
    edges: [edge('buyers', 'ask'), edge('ask', 'again', 'SUCCESS', (scope) => turnOf(scope) < count)],
  };
}

/** Selects, and starts a child of plan p1 beside. */
function withChild(more: object = {}): PlanSpec {
  const child = { type: 'SUB_WORKFLOW', familySlug: 'p1', ...more } as const;
  return { steps: { buyers: SELECT, child }, edges: [edge('buyers', 'child')] };
}

describe('a run that selects', () => {
  it('holds its slate from the row that shows it until it ends', async () => {
    const { ids, held, start, answer, status, output, kit, check } = await market(
      [thenCall()],
      [{ max_concurrent: 1 }],
    );
    const runId = await start();
    const shown = { id: ids[0], name: 'r1', external_id: '', type: 'buyer', units: 1 };
    expect(output(runId, 'buyers')).toMatchObject({ recipients: [shown] });
    expect(held()).toEqual([1]);
    await answer();
    expect([status(runId), held(), kit.db.reservations.held]).toEqual(['COMPLETED', [0], []]);
    check();
  });

  it('is refused what is full, as an error that its edges can catch, and holds nothing then', async () => {
    const caught = { ...thenCall(), edges: [edge('buyers', 'post', 'FAILURE')] };
    const { held, start, status, output, kit, check } = await market([thenCall(), caught], [{ max_concurrent: 1 }]);
    await start();
    const second = await start('p1');
    expect(kit.stored(second)?.steps.get('buyers')?.error?.code).toBe('recipient_capacity_exhausted');
    expect([status(second), output(second, 'buyers'), held()]).toEqual(['RUNNING', null, [1]]);
    check();
  });

  it.each(['SELECT', 'ROUTE'] as const)('begins with a %s in the row that lets the run in', async (type) => {
    const first = type === 'SELECT' ? SELECT : ({ type, pool: 'buyers' } as const);
    const one = { concurrency: [{ key: template(() => 'serial'), limit: 1 }], rate: null };
    const { start, status, error, kit, check } = await market([{ steps: { first }, semaphores: one }], [{}]);
    const ids = [await start(), await start()];
    expect(ids.map((id) => [status(id), error(id)])).toEqual([
      ['COMPLETED', undefined],
      ['COMPLETED', undefined],
    ]);
    expect([kit.db.semaphores.holds.size, kit.db.reservations.held]).toEqual([0, []]);
    check();
  });

  it('takes a slate whole or not at all', async () => {
    const capacities = [{ max_concurrent: 1 }, { max_concurrent: 1 }, { max_concurrent: 1 }];
    const plans = [thenCall(), thenCall({ slateSize: 3, atLeast: 3 })];
    const { held, start, error, check } = await market(plans, capacities);
    await start();
    const second = await start('p1');
    expect([error(second), held().toSorted((a, b) => a - b)]).toEqual(['recipient_capacity_exhausted', [0, 0, 1]]);
    check();
  });

  it('tells a pool without anybody to choose from a full one', async () => {
    const { start, error } = await market([thenCall()], []);
    expect(error(await start())).toBe('no_eligible_recipient');
  });

  it('says that there is no such pool', async () => {
    const { start, error } = await market([thenCall({ pool: 'sellers' })], [{}]);
    expect(error(await start())).toBe('not_found');
  });

  it('is refused a routable that is none', async () => {
    const { start, error } = await market([thenCall({ routable: template(() => ({ atributes: {} })) })], [{}]);
    expect(error(await start())).toBe('invalid_argument');
  });

  it('has the smaller positive limit of the pinned and the live one', async () => {
    const id = recipientOf(1).id;
    const plans = [{ ...thenCall(), pinned: new Map([[id, 1]]) }, thenCall()];
    const { start, error, check } = await market(plans, [{ max_concurrent: 2 }]);
    await start('p1');
    expect(error(await start('p0'))).toBe('recipient_capacity_exhausted');
    expect(error(await start('p1'))).toBeUndefined();
    check();
  });

  it('gets nothing back of the budget of its day', async () => {
    const { start, answer, error, today, held, check } = await market([thenCall()], [{ daily_limit: 1 }]);
    await start();
    await answer();
    expect([today(), held()]).toEqual([[1], [0]]);
    expect(error(await start())).toBe('recipient_capacity_exhausted');
    check();
  });
});

describe('what is held', () => {
  it('stays held while a child is at work that the run has let go', async () => {
    const market1 = await market(
      [withChild({ isDetached: true, closePolicy: 'abandon' }), LEAF],
      [{ max_concurrent: 1 }],
    );
    const { start, status, held, answer, kit, check } = market1;
    const runId = await start();
    expect([status(runId), held()]).toEqual(['COMPLETED', [1]]);
    await kit.pass(3_600_000, 600_000);
    expect(held()).toEqual([1]);
    await answer();
    expect(held()).toEqual([0]);
    check();
  });

  it('stays held until a cancelled run has drained', async () => {
    const { start, status, held, kit, node, check } = await market([withChild(), LEAF], [{}]);
    const runId = await start();
    const taken = kit.take(node, WORKER);
    const cancelled = node.coordinator.cancel({ tenantId: TENANT, runId }, 'enough', 'me');
    await kit.pass(500, 50);
    await cancelled;
    expect([status(runId), held()]).toEqual(['CANCELLING', [1]]);
    kit.settle(node, taken, { kind: 'cancelled' });
    await kit.pass(1_000, 50);
    expect([status(runId), held()]).toEqual(['CANCELLED', [0]]);
    check();
  });

  it('is used again by the same selection of the next run of its chain, and charged once', async () => {
    const { start, answer, held, today, error, kit, check } = await market(
      [turns(3)],
      [{ max_concurrent: 1, daily_limit: 1 }],
    );
    const runId = await start();
    for (let turn = 1; turn < 3; turn += 1) {
      await answer();
      expect([held(), today()]).toEqual([[1], [1]]);
    }
    const states = [...kit.db.runs.values()].map(({ header }) => kit.stored(header.runId));
    expect(states.map((state) => state?.status)).toEqual(['CONTINUED', 'CONTINUED', 'RUNNING']);
    expect(error(runId)).toBeUndefined();
    await answer();
    expect([held(), today()]).toEqual([[0], [1]]);
    check();
  });

  it('is held beside what a changed selection of its chain is admitted, until the chain has ended', async () => {
    const { start, answer, held, today, kit, ids, check } = await market([turns(2)], [{}, {}]);
    await start();
    const first = kit.db.reservations.held[0]?.recipientId ?? '';
    const second = ids.find((id) => id !== first);
    // Somebody else makes the one that was chosen the more loaded of the two.
    const now = kit.db.reservations.accounts.get(first);
    if (now !== undefined) kit.db.reservations.accounts.set(first, { ...now, committed: 5 });
    await answer();
    expect([held(), today()]).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(kit.db.reservations.held.map(({ recipientId }) => recipientId)).toEqual([first, second]);
    await answer();
    expect(held()).toEqual([0, 0]);
    check();
  });

  it('is lent to no child', async () => {
    const { start, held, kit, check } = await market([withChild(), thenCall()], [{ max_concurrent: 1 }]);
    await start();
    const child = [...kit.db.runs.values()].map(({ header }) => kit.stored(header.runId)).find((run) => run?.family);
    expect([child?.error?.code, held()]).toEqual(['recipient_capacity_exhausted', [0]]);
    check();
  });

  it('is held exactly once and given back exactly once, whatever answer is lost', async () => {
    const { start, held, answer, kit, node, check } = await market([thenCall()], [{ max_concurrent: 2 }]);
    for (let round = 0; round < 12; round += 1) {
      node.fault = ({ method }) => (method === 'commitGated' && round % 3 === 0 ? { kind: 'lost_after' } : null);
      await start();
      expect(held()[0]).toBeLessThanOrEqual(2);
      node.fault = ({ method }) => (method === 'commitGated' && round % 4 === 0 ? { kind: 'lost_before' } : null);
      await answer();
      node.fault = null;
      await kit.pass(1_000, 100);
      check();
    }
    await answer();
    await kit.pass(3_000, 100);
    expect([held(), kit.db.reservations.held]).toEqual([[0], []]);
  });
});
