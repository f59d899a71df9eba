/**
 * Everything at once, by a seed: lost answers, nodes that die, hang and come, workers that crash and return, and people
 * who cancel, terminate, pause, resume and retry.
 * Then it is quiet, and every run has to end. What an acknowledgement promised has to stand in the journal.
 */
import { describe, expect, it } from 'vitest';
import { seededRandom, shardOf } from '../../kernel/index.js';
import { decodeEntries } from '../journal/index.js';
import { jsonValue } from '../machine/index.js';
import { CoordinatorKit, TENANT, type TestNode } from '../testing/coordinator-kit.js';
import { nameOf } from '../testing/memory-database.js';
import { refOf } from '../testing/memory-invoker.js';
import type { StoreFault } from '../testing/memory-stores.js';
import { edge, joinOf, planOf, RUN_INPUT } from '../testing/plan-builder.js';
import type { ResultAck } from './coordinator.js';
import type { AttemptRef } from './ports.js';

const PLAN = planOf({
  steps: {
    a: { type: 'CALLBACK', input: RUN_INPUT, timeoutMs: 20_000 },
    pause: { type: 'WAIT', wakeAtUs: (_, nowUs) => nowUs + 700_000 },
    b: { type: 'CALLBACK', input: RUN_INPUT, timeoutMs: 1_500, retry: { maxAttempts: 50 } },
    c: { type: 'CALLBACK', input: RUN_INPUT, retry: { maxAttempts: 50 } },
    d: { type: 'CALLBACK', input: RUN_INPUT, retry: { maxAttempts: 50 } },
    rival: { type: 'CALLBACK', scheduleToStartTimeoutMs: 60_000, heartbeatTimeoutMs: 8_000 },
    first: { type: 'CALLBACK', join: joinOf(1, true), retry: { maxAttempts: 50 } },
  },
  edges: [
    ...[edge('a', 'pause'), edge('a', 'b'), edge('pause', 'c'), edge('b', 'd'), edge('c', 'd')],
    ...[edge('a', 'first', 'ALWAYS'), edge('rival', 'first', 'ALWAYS')],
  ],
});

interface Held {
  readonly ref: AttemptRef;
  readonly finishMs: number;
  sentMs: number | null;
}

/** A process that runs step bodies, connected to every node that lives. */
class Worker {
  readonly holds = new Map<string, Held>();
  readonly connected = new Set<TestNode>();
  constructor(readonly id: string) {}

  refs(): readonly AttemptRef[] {
    return [...this.holds.values()].map((held) => held.ref);
  }
}

/** One storm. */
class Storm {
  readonly kit: CoordinatorKit;
  readonly nodes: TestNode[] = [];
  workers: Worker[] = [];
  readonly acks: { readonly ref: AttemptRef; readonly ack: ResultAck }[] = [];
  readonly started: string[] = [];
  readonly #random;
  #workerCount = 0;

  constructor(seed: number) {
    this.kit = new CoordinatorKit({ plans: [PLAN], seed });
    this.#random = seededRandom(seed * 7_919 + 1);
  }

  chance(of: number): boolean {
    return this.#random.uint32() / 2 ** 32 < of;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.#random.uint32() % Math.max(1, items.length)];
  }

  addNode(): void {
    const node = this.kit.node({ cacheBytes: 40_000, workerLostAfterMs: 4_000 });
    node.fault = ({ method }) => this.#fault(method);
    node.invoker.onInventory = () => {
      this.kit.clock.setTimer(5 + (this.#random.uint32() % 100), () => {
        for (const worker of this.workers) if (worker.connected.has(node)) this.connect(worker, node);
      });
    };
    this.nodes.push(node);
    for (const worker of this.workers) this.connect(worker, node);
  }

  addWorker(): void {
    const worker = new Worker(`worker-${(this.#workerCount += 1)}`);
    this.workers.push(worker);
    for (const node of this.nodes) this.connect(worker, node);
  }

  connect(worker: Worker, node: TestNode): void {
    worker.connected.add(node);
    node.invoker.asked = this.workers.filter((other) => other.connected.has(node)).map((other) => other.id);
    for (const ref of worker.refs()) node.invoker.held(worker.id, ref);
    node.coordinator.workerConnected(worker.id, worker.refs());
  }

  disconnect(worker: Worker, node: TestNode): void {
    if (!worker.connected.delete(node)) return;
    node.invoker.asked = node.invoker.asked.filter((id) => id !== worker.id);
    node.invoker.lose(worker.id);
    node.coordinator.workerGone(worker.id);
  }

  isQuiet = false;
  /** Times that a run was found held when all was quiet. */
  held = 0;

  #fault(method: string): StoreFault | null {
    if (this.isQuiet || method === 'register') return null;
    if (method === 'commit' && this.chance(0.03)) {
      return { kind: 'lost_late', when: new Promise((resolve) => this.kit.clock.setTimer(100, () => resolve())) };
    }
    if (this.chance(0.03)) return { kind: 'lost_before' };
    if (this.chance(0.03)) return { kind: 'lost_after' };
    if (method === 'commit' && this.chance(0.02)) {
      return { kind: 'answer', outcome: { kind: 'repeat', sqlState: '40001' } };
    }
    return null;
  }

  start(): void {
    const node = this.pick(this.nodes);
    node?.coordinator.start(this.kit.request()).then(
      ({ runId }) => this.started.push(runId),
      () => undefined,
    );
  }

  cancel(): void {
    const runId = this.pick(this.started);
    if (runId === undefined) return;
    this.pick(this.nodes)
      ?.coordinator.cancel({ tenantId: TENANT, runId }, 'storm', 'test')
      .catch(() => undefined);
  }

  /** Somebody asks something of a run; most often that it goes on. */
  control(): void {
    const runId = this.pick(this.started);
    const coordinator = this.pick(this.nodes)?.coordinator;
    if (runId === undefined || coordinator === undefined) return;
    const key = { tenantId: TENANT, runId };
    const ask = this.pick([
      () => coordinator.pause(key, 'storm', 'test'),
      () => coordinator.retry(key, 'test'),
      () => coordinator.resume(key, 'test'),
      () => (this.chance(0.2) ? coordinator.terminate(key, 'storm', 'test') : coordinator.resume(key, 'test')),
    ]);
    ask?.().catch(() => undefined);
  }

  /** Whoever holds a run lets it go in the end. */
  release(): void {
    for (const runId of this.open()) {
      const state = this.kit.stored(runId);
      if (state?.status !== 'PAUSED' && state?.status !== 'PARKED') continue;
      this.held += 1;
      this.pick(this.nodes)
        ?.coordinator.resume({ tenantId: TENANT, runId }, 'test')
        .catch(() => undefined);
    }
  }

  /** Workers take what is queued, finish what is due, send again what was not acknowledged. */
  work(): void {
    const nowMs = this.kit.clock.monotonicMs();
    for (const worker of this.workers) {
      for (const node of worker.connected) this.#take(worker, node, nowMs);
      for (const [name, held] of worker.holds) {
        if (held.finishMs > nowMs || (held.sentMs !== null && nowMs - held.sentMs < 2_000)) continue;
        const node = this.pick([...worker.connected]);
        if (node === undefined) continue;
        held.sentMs = nowMs;
        node.coordinator.settle(held.ref, { kind: 'completed', output: jsonValue(held.ref.path) }, (ack) => {
          this.acks.push({ ref: held.ref, ack });
          worker.holds.delete(name);
          for (const other of this.nodes) other.invoker.done(held.ref);
        });
      }
    }
  }

  #take(worker: Worker, node: TestNode, nowMs: number): void {
    const room = 20 - worker.holds.size;
    if (room <= 0) return;
    const tasks = node.invoker.take(worker.id, room).map(refOf);
    for (const ref of tasks) {
      const slow = this.chance(0.1) ? 3_000 : 100;
      const finishMs = nowMs + (this.#random.uint32() % slow);
      worker.holds.set(`${nameOf(ref)}/${ref.path}/${ref.attempt}`, { ref, finishMs, sentMs: null });
    }
    if (tasks.length > 0) node.coordinator.sent(worker.id, tasks);
  }

  kill(): void {
    if (this.nodes.length < 2) return;
    const node = this.pick(this.nodes);
    if (node === undefined) return;
    this.nodes.splice(this.nodes.indexOf(node), 1);
    this.kit.kill(node);
    for (const worker of this.workers) worker.connected.delete(node);
    this.addNode();
  }

  hang(): void {
    const node = this.pick(this.nodes);
    if (node === undefined || node.hold !== null) return;
    let release = (): void => undefined;
    node.hold = new Promise((resolve) => {
      release = () => resolve();
    });
    this.kit.clock.setTimer(6_500, () => {
      // It was killed meanwhile: the dead do not wake up.
      if (!this.nodes.includes(node)) return;
      node.hold = null;
      release();
    });
  }

  crashWorker(): void {
    const worker = this.pick(this.workers);
    if (worker === undefined) return;
    for (const node of this.nodes) this.disconnect(worker, node);
    this.workers = this.workers.filter((other) => other !== worker);
    this.addWorker();
  }

  reconnect(): void {
    const [worker, node] = [this.pick(this.workers), this.pick(this.nodes)];
    if (worker === undefined || node === undefined) return;
    this.disconnect(worker, node);
    this.kit.clock.setTimer(this.#random.uint32() % 600, () => {
      if (this.nodes.includes(node) && this.workers.includes(worker)) this.connect(worker, node);
    });
  }

  async blow(ms: number): Promise<void> {
    for (let spent = 0; spent < ms; spent += 50) {
      if (this.chance(0.4)) this.start();
      if (this.chance(0.05)) this.cancel();
      if (this.chance(0.4)) this.control();
      if (this.chance(0.01)) this.kill();
      if (this.chance(0.006)) this.hang();
      if (this.chance(0.01)) this.crashWorker();
      if (this.chance(0.03)) this.reconnect();
      this.work();
      await this.kit.pass(50);
    }
  }

  async calm(ms: number): Promise<void> {
    this.isQuiet = true;
    for (let spent = 0; spent < ms && this.open().length > 0; spent += 200) {
      if (spent % 5_000 === 0) this.release();
      this.work();
      await this.kit.pass(200, 200);
    }
  }

  open(): readonly string[] {
    return [...this.kit.db.runs.values()]
      .filter((run) => run.header.closedAtUs === null)
      .map((run) => run.header.runId);
  }

  /** Attempts with an outcome in the journal, by name; the number of outcomes of each. */
  outcomes(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [name, run] of this.kit.db.runs) {
      for (const entry of run.rows.flatMap((row) => decodeEntries(row.entries))) {
        if (!['step_completed', 'attempt_failed', 'step_failed', 'step_cancelled'].includes(entry.kind)) continue;
        if (!('attempt' in entry) || entry.attempt === 0) continue;
        const attempt = `${name}/${entry.path}/${entry.attempt}`;
        counts.set(attempt, (counts.get(attempt) ?? 0) + 1);
      }
    }
    return counts;
  }
}

describe('a storm', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))('of seed %i ends with every run ended', async (seed) => {
    const storm = new Storm(seed);
    storm.addNode();
    storm.addNode();
    storm.addWorker();
    storm.addWorker();
    await storm.kit.flush();
    await storm.blow(20_000);
    await storm.calm(180_000);
    const { db } = storm.kit;
    expect(db.violations).toEqual([]);
    expect(storm.open().map((runId) => [runId, shardOf(runId), storm.kit.stored(runId)?.status])).toEqual([]);
    expect(storm.started.every((runId) => db.runs.has(nameOf({ tenantId: TENANT, runId })))).toBe(true);
    const outcomes = storm.outcomes();
    expect([...outcomes.values()].every((count) => count === 1)).toBe(true);
    for (const { ref, ack } of storm.acks) {
      const name = `${nameOf(ref)}/${ref.path}/${ref.attempt}`;
      if (ack === 'recorded' && !outcomes.has(name)) expect.unreachable(`${name} was acknowledged and is not recorded`);
    }
    expect(storm.started.length).toBeGreaterThan(30);
    expect(storm.held).toBeGreaterThan(0);
    // Every result is answered in the end, and nothing of an ended run is left in memory.
    for (let round = 0; round < 100; round += 1) {
      storm.work();
      await storm.kit.pass(100, 100);
    }
    expect(storm.workers.flatMap((worker) => worker.refs())).toEqual([]);
    expect(storm.nodes.flatMap((node) => [...node.invoker.queued.keys()])).toEqual([]);
    expect(db.inbox.size).toBe(0);
  });
});
