/** Clocks of assignments on two nodes that both look at them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../../kernel/index.js';
import { testDatabase } from '../../../store/testing/index.js';
import { bearer, httpCall } from '../../testing/http-call.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let nodes: readonly [TestNode, TestNode];
let apiKey = '';
beforeAll(async () => {
  nodes = [await startTestNode(database.db), await startTestNode(database.db)];
  ({ apiKey } = await nodes[0].tenant('clocks'));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
});

type Data = Record<string, unknown> & { readonly id: string };

async function rest<T = Data>(method: string, path: string, body?: object): Promise<T> {
  const { json } = await httpCall(nodes[0].address, {
    ...{ method, path, headers: { ...bearer(apiKey), 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { data, error } = json as { data?: T; error?: object };
  if (data === undefined) throw new RangeError(JSON.stringify(error));
  return data;
}

let names = 0;

async function poolOf(config: object, count: number): Promise<[string, string[]]> {
  const pool = await rest('POST', '/api/pools', { name: `pool-${(names += 1)}`, config });
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const fields = { name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE' };
    ids.push((await rest('POST', `/api/pools/${pool.id}/recipients`, fields)).id);
  }
  return [pool.id, ids];
}

async function assignedIn(poolId: string, work: object = {}): Promise<string> {
  const body = { pool_id: poolId, routable: { id: `work-${(names += 1)}`, ...work } };
  const [id = ''] = (await rest('POST', '/api/routing/route', body))['assignment_ids'] as string[];
  return id;
}

interface Assignment extends Data {
  readonly state: string;
  readonly recipient_id: string;
  readonly clocks: readonly Readonly<Record<string, string>>[];
}

const assignment = (id: string): Promise<Assignment> => rest<Assignment>('GET', `/api/assignments/${id}`);

/** The assignment once it is as wanted; a node looks at its clocks each second. */
async function once(id: string, isWanted: (found: Assignment) => boolean): Promise<Assignment> {
  for (let tries = 0; ; tries += 1) {
    const found = await assignment(id);
    if (isWanted(found) || tries === 300) return found;
    await sleep(systemClock(), 100);
  }
}

/** What both nodes have said about an assignment. */
function said(id: string): readonly string[] {
  const lines = nodes.flatMap(({ logged }) => logged).filter((line) => line.includes(id));
  return lines.flatMap((line) => /an SLA was (\w+)/.exec(line)?.[1] ?? []).sort();
}

describe('the clocks of an SLA', () => {
  it('warn and breach once, whichever node looks', async () => {
    const [poolId] = await poolOf({ sla: { first_response_within: '2s', resolve_within: '1h', warn_at_pct: 50 } }, 1);
    const id = await assignedIn(poolId);
    expect((await assignment(id)).clocks).toMatchObject([{ clause: 'first_response' }, { clause: 'resolve' }]);
    const found = await once(id, ({ clocks }) => clocks[0]?.['breached_at'] !== undefined);
    const [clock = {}, resolve = {}] = found.clocks;
    expect(Date.parse(clock['warned_at'] ?? '')).toBeGreaterThanOrEqual(Date.parse(clock['warn_at'] ?? ''));
    expect(Date.parse(clock['breached_at'] ?? '')).toBeGreaterThanOrEqual(Date.parse(clock['due_at'] ?? ''));
    expect(resolve['breached_at']).toBeUndefined();
    // Later looks tell nothing more.
    await sleep(systemClock(), 2_500);
    expect(said(id)).toEqual(['breached', 'warned']);
    expect(await assignment(id)).toMatchObject({ state: 'ASSIGNMENT_STATE_ACTIVE', clocks: found.clocks });
  });

  it('stop in time: by a response, by the end of the work', async () => {
    const [poolId] = await poolOf({ sla: { first_response_within: '3s', resolve_within: '4s' } }, 1);
    const [answered, done, offer] = [await assignedIn(poolId), await assignedIn(poolId), await assignedIn(poolId)];
    const responded = await rest('POST', `/api/assignments/${answered}:respond`, { reason: 'called back' });
    expect(responded).toMatchObject({ state: 'ASSIGNMENT_STATE_ACTIVE', responded_at: expect.any(String) });
    const again = await rest('POST', `/api/assignments/${answered}:respond`, {});
    expect(again['responded_at']).toBe(responded['responded_at']);
    await rest('POST', `/api/assignments/${done}:complete`, {});
    await rest('POST', `/api/assignments/${offer}:release`, {});
    const settled = ({ clocks }: Assignment): boolean => clocks.every((clock) => clock['settled_at'] !== undefined);
    expect(settled(await once(done, settled))).toBe(true);
    expect(settled(await once(offer, settled))).toBe(true);
    const kept = await once(answered, ({ clocks }) => clocks[1]?.['breached_at'] !== undefined);
    expect(kept.clocks).toMatchObject([{ settled_at: expect.any(String) }, { breached_at: expect.any(String) }]);
    for (const id of [done, offer]) expect(said(id).includes('breached')).toBe(false);
    await expect(rest('POST', `/api/assignments/${done}:respond`, {})).rejects.toThrow('assignment_state_conflict');
  });

  it('have late work routed to somebody else, once, and leave it with whom it is when there is nobody', async () => {
    const sla = { pickup_within: '1s', on_breach: ['notify', 'reroute'] };
    const [poolId, ids] = await poolOf({ requires_acceptance: true, sla, dedupe: { window: '1h' } }, 2);
    const first = await assignedIn(poolId, { dedupe_key: 'k', attributes: { amount: 7 } });
    const before = await once(first, ({ state }) => state === 'ASSIGNMENT_STATE_RELEASED');
    expect(before.state).toBe('ASSIGNMENT_STATE_RELEASED');
    const all = await rest<readonly Assignment[]>('GET', `/api/assignments?pool_id=${poolId}`);
    expect(all).toHaveLength(2);
    const [next] = all;
    expect(new Set(all.map(({ recipient_id }) => recipient_id))).toEqual(new Set(ids));
    expect(next).toMatchObject({ state: 'ASSIGNMENT_STATE_OFFERED', routable_id: all[1]?.['routable_id'] });
    // The clause of the work was broken once; it is not broken again by who got it late.
    expect(next?.clocks).toMatchObject([{ clause: 'pickup', breached_at: expect.any(String) }]);
    await sleep(systemClock(), 2_500);
    expect(said(first)).toEqual(['breached', 'rerouted', 'warned'].filter((each) => said(first).includes(each)));
    expect(said(first)).toEqual(expect.arrayContaining(['breached', 'rerouted']));
    expect(said(next?.id ?? '')).toEqual([]);

    const [lonely] = await poolOf({ requires_acceptance: true, sla }, 1);
    const only = await assignedIn(lonely);
    await once(only, ({ clocks }) => clocks[0]?.['breached_at'] !== undefined);
    await sleep(systemClock(), 1_500);
    expect(await assignment(only)).toMatchObject({ state: 'ASSIGNMENT_STATE_OFFERED' });
    expect(said(only)).not.toContain('rerouted');
  });
});
