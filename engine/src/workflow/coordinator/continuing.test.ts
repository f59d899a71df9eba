/** Chains through the coordinator: one run is open, whatever is lost, and messages reach it by any id of the chain. */
import { describe, expect, it } from 'vitest';
import { codeOf, CoordinatorKit, TENANT, type TestNode } from '../testing/coordinator-kit.js';
import { edge, planOf, template } from '../testing/plan-builder.js';
import { jsonValue, type ExpressionScope, type Plan, type RunState } from '../machine/index.js';
import { encodeInput } from './run-logic.js';

const WORKER = 'worker-1';

function turnOf({ input }: ExpressionScope): number {
  const given = input();
  return typeof given === 'object' && given !== null && 'turn' in given ? Number(given.turn) : 1;
}

/** Asks in each of so many turns. */
function poll(turns: number, version = 1, isCurrent = false): Plan {
  return planOf({
    version,
    steps: {
      ask: { type: 'CALLBACK' },
      again: { type: 'CONTINUE_AS_NEW', isCurrent, input: template((scope) => ({ turn: turnOf(scope) + 1 })) },
    },
    edges: [edge('ask', 'again', 'SUCCESS', (scope) => turnOf(scope) < turns)],
  });
}

async function chain(plans: readonly Plan[]) {
  const kit = new CoordinatorKit({ plans });
  const node = kit.node();
  await kit.pass(3_000, 250);
  node.coordinator.workerConnected(WORKER, []);
  const [run] = await kit.start(node, 1);
  await kit.flush();
  const firstId = run?.runId ?? '';
  /** Runs of the chain in order. */
  const states = (): readonly RunState[] => {
    const found: RunState[] = [];
    for (let id: string | null = firstId; id !== null;) {
      const state: RunState | null = kit.stored(id);
      if (state === null) break;
      found.push(state);
      id = state.continuedAs;
    }
    return found;
  };
  return {
    ...{ kit, node, firstId, states },
    async answer(by: TestNode = node) {
      kit.settle(by, kit.take(by, WORKER));
      await kit.flush();
    },
  };
}

describe('a run that continues as new', () => {
  it('is followed by its successors, whose steps begin at once', async () => {
    const { kit, answer, states, node, firstId } = await chain([poll(3)]);
    for (let turn = 0; turn < 3; turn += 1) await answer();
    expect(states().map(({ status, chain: place }) => [status, place?.no])).toEqual([
      ...[
        ['CONTINUED', undefined],
        ['CONTINUED', 2],
        ['COMPLETED', 3],
      ],
    ]);
    expect(states().every(({ chain: place }) => place === null || place.chainId === firstId)).toBe(true);
    const told = node.changes.flatMap(({ status, closed }) => (closed === null ? [] : [[status, closed.continuedAs]]));
    expect(told).toEqual(states().map(({ status, continuedAs }) => [status, continuedAs]));
    expect(kit.db.violations).toEqual([]);
  });

  it('ends only once it has read its mailbox, also with a version that takes no signals', async () => {
    const { kit, answer, states, firstId } = await chain([poll(2)]);
    await answer();
    const late = { kind: 'signal', name: 'late', id: '1', payload: jsonValue(null), by: '' } as const;
    kit.db.send([{ tenantId: TENANT, runId: firstId, kind: 'signal', body: encodeInput(late) }]);
    await answer();
    await kit.pass(2_000, 250);
    const last = states().at(-1);
    expect(last?.status).toBe('COMPLETED');
    expect(last?.signals?.waiting.map(({ name }) => name)).toEqual(['late']);
    expect(kit.db.inbox.size).toBe(0);
  });

  it('is cancelled by the id of any run of the chain', async () => {
    const { kit, node, answer, states, firstId } = await chain([poll(9)]);
    await answer();
    await answer();
    const asked = node.coordinator.cancel({ tenantId: TENANT, runId: firstId }, 'enough', 'me');
    await kit.flush();
    await asked;
    await kit.pass(31_000, 500);
    expect(states().map(({ status }) => status)).toEqual(['CONTINUED', 'CONTINUED', 'CANCELLED']);
    const late = codeOf(node.coordinator.cancel({ tenantId: TENANT, runId: firstId }, '', 'me'));
    await kit.flush();
    expect(await late).toBe('run_closed');
    expect(kit.db.inbox.size).toBe(0);
  });

  it('loses nothing and doubles nothing with an answer lost at each commit in turn', async () => {
    for (let lost = 0; lost < 6; lost += 1) {
      const { kit, answer, states, node } = await chain([poll(2)]);
      node.commitFaults.push(...Array.from({ length: lost }, () => null), { kind: 'lost_after' });
      for (let turn = 0; turn < 4; turn += 1) {
        await answer();
        await kit.pass(2_000, 250);
      }
      expect([lost, ...states().map(({ status }) => status)]).toEqual([lost, 'CONTINUED', 'COMPLETED']);
      expect([kit.db.runs.size, ...kit.db.violations]).toEqual([2]);
    }
  });

  it('goes on with another engine that takes over between its end and the beginning of its successor', async () => {
    const { kit, node, answer, states } = await chain([poll(2)]);
    node.fault = ({ method, ticks }) => {
      if (method !== 'commit' || ticks.every(({ successor }) => successor === undefined)) return null;
      // The row is written, and nothing else happens on this engine any more.
      queueMicrotask(() => kit.kill(node));
      return { kind: 'lost_after' };
    };
    await answer();
    expect(states().map(({ status, steps }) => [status, steps.size])).toEqual([
      ...[
        ['CONTINUED', 2],
        ['RUNNING', 0],
      ],
    ]);
    const other = kit.node();
    await kit.pass(12_000, 250);
    other.coordinator.workerConnected(WORKER, []);
    await answer(other);
    expect(states().map(({ status }) => status)).toEqual(['CONTINUED', 'COMPLETED']);
  });

  it('goes on with the version that is current when it asks for that', async () => {
    const plans = [poll(3, 1, true)];
    const { answer, states } = await chain(plans);
    await answer();
    plans.push(poll(3, 2, true));
    await answer();
    await answer();
    expect(states().map(({ version, status }) => [version, status])).toEqual([
      ...[
        [1, 'CONTINUED'],
        [1, 'CONTINUED'],
        [2, 'COMPLETED'],
      ],
    ]);
  });
});
