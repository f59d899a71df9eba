/** Runs that end the engine that ticks them, in a cluster that starts its engines again. */
import { describe, expect, it } from 'vitest';
import { jsonValue } from '../machine/index.js';
import type { TickWrite } from './ports.js';
import { CoordinatorKit, TENANT, type TestNode } from '../testing/coordinator-kit.js';
import { sequence } from '../testing/plan-builder.js';

const WORKER = 'worker-1';
const ADDRESSES = ['a:1', 'b:1', 'c:1'];
const LEASE_SECONDS = 5;
const OPERATOR = 'an operator';
const DONE = { kind: 'completed', output: jsonValue('done') } as const;

/** Engines under a supervisor; a commit of a deadly run ends the one that sends it. */
class Cast {
  readonly kit = new CoordinatorKit({ plans: [sequence('a', 'b')] });
  readonly deadly = new Set<string>();
  readonly nodes: TestNode[] = [];
  deaths = 0;
  readonly #dead: number[] = [];

  async begin(): Promise<void> {
    for (const index of ADDRESSES.keys()) this.#spawn(index);
    await this.kit.pass(5_000);
  }

  get probed(): readonly string[] {
    return this.nodes.flatMap(({ coordinator }) =>
      this.kit.db.crashes.probed(coordinator.nodeId() ?? '').map(({ runId }) => runId),
    );
  }

  kill(index: number): void {
    const node = this.nodes[index];
    if (node === undefined) return;
    this.kit.kill(node);
    this.deaths += 1;
    this.#dead.push(index);
  }

  /** Lets time pass; bodies end at once, and engines that ended are started again after a moment. */
  async pass(seconds: number): Promise<void> {
    for (let round = 0; round < seconds * 2; round += 1) {
      for (const node of this.nodes) this.kit.settle(node, this.kit.take(node, WORKER), DONE);
      await this.kit.pass(250);
      for (const index of this.#dead.splice(0)) this.#spawn(index);
      await this.kit.pass(250);
    }
  }

  #spawn(index: number): void {
    const node = this.kit.node({}, ADDRESSES[index]);
    node.fault = ({ method, ticks }) => {
      const isDeadly = ({ runId, seq, entries }: TickWrite): boolean => {
        const text = Buffer.from(entries).toString('latin1');
        if (seq === 1 || !this.deadly.has(runId) || text.includes('engine_crash')) return false;
        // What comes for a parked run is only kept.
        return this.statusOf(runId) !== 'PARKED' || text.includes(OPERATOR);
      };
      if (method !== 'commit' || !ticks.some(isDeadly)) return null;
      this.kill(index);
      return { kind: 'lost_before' };
    };
    node.coordinator.workerConnected(WORKER, []);
    this.nodes[index] = node;
  }

  statusOf(runId: string): string | undefined {
    return this.kit.stored(runId)?.status;
  }
}

async function startOn(cast: Cast, count: number): Promise<readonly string[]> {
  const runs = await Promise.all(cast.nodes.map((node) => cast.kit.start(node, count)));
  return runs.flat().map(({ runId }) => runId);
}

describe('a run that ends its engine', () => {
  it('is parked after three crashes that were its own, and nobody else waits for long', async () => {
    const cast = new Cast();
    await cast.begin();
    const [deadly = '', ...healthy] = await startOn(cast, 40);
    cast.deadly.add(deadly);
    const waiting = (): readonly string[] => healthy.filter((runId) => cast.statusOf(runId) !== 'COMPLETED');
    await cast.pass(1.5);
    expect(cast.deaths).toBe(2);
    // Only who was tried together with it, and of those who had something to do, waits; a lease and moments.
    expect(waiting().length).toBeLessThan(40);
    await cast.pass(LEASE_SECONDS + 1.5);
    expect(waiting()).toEqual([]);
    await cast.pass(38);
    expect(cast.deaths).toBe(4);
    expect(cast.statusOf(deadly)).toBe('PARKED');
    expect(cast.kit.stored(deadly)?.parked).toMatchObject({ code: 'engine_crash' });
    expect(cast.kit.db.violations).toEqual([]);
    expect(cast.probed).toEqual([]);
  });

  it('is parked again by the next crash when it is retried unmended, and goes on when it is mended', async () => {
    const cast = new Cast();
    await cast.begin();
    const [deadly = ''] = await startOn(cast, 2);
    cast.deadly.add(deadly);
    await cast.pass(45);
    const key = { tenantId: TENANT, runId: deadly };
    await Promise.all([cast.nodes[0]?.coordinator.retry(key, OPERATOR), cast.pass(40)]);
    expect(cast.deaths).toBe(5);
    expect(cast.statusOf(deadly)).toBe('PARKED');
    cast.deadly.clear();
    await Promise.all([cast.nodes[0]?.coordinator.retry(key, OPERATOR), cast.pass(40)]);
    expect(cast.deaths).toBe(5);
    expect(cast.statusOf(deadly)).toBe('COMPLETED');
  });

  it('two of them are parked, each for its own crashes', async () => {
    const cast = new Cast();
    await cast.begin();
    const runs = await startOn(cast, 10);
    const [first = '', second = ''] = [runs[0], runs[11]];
    cast.deadly.add(first).add(second);
    await cast.pass(90);
    expect([first, second].map((runId) => cast.statusOf(runId))).toEqual(['PARKED', 'PARKED']);
    const others = runs.filter((runId) => runId !== first && runId !== second);
    expect(others.filter((runId) => cast.statusOf(runId) !== 'COMPLETED')).toEqual([]);
  });
});

describe('an engine that ends for reasons of its own', () => {
  it('parks nothing, however often it happens', async () => {
    const cast = new Cast();
    await cast.begin();
    const runs = await startOn(cast, 20);
    for (let round = 0; round < 6; round += 1) {
      cast.kill(round % 3);
      await cast.kit.pass(700);
      await cast.pass(1);
    }
    await cast.pass(5);
    expect(runs.filter((runId) => cast.statusOf(runId) !== 'COMPLETED')).toEqual([]);
  });

  it('has nothing tried by name after it left in order', async () => {
    const cast = new Cast();
    await cast.begin();
    const methods: string[] = [];
    for (const node of cast.nodes) {
      node.fault = ({ method }) => {
        methods.push(method);
        return null;
      };
    }
    await startOn(cast, 5);
    await Promise.all([cast.nodes[0]?.coordinator.stop(), cast.kit.pass(3_000)]);
    expect(methods).toContain('claim');
    expect(methods.filter((method) => method === 'probe' || method === 'crashes')).toEqual([]);
  });
});
