/**
 * The race of postgres-mailbox-race.test.ts through whole engines, with fewer ends: sixteen senders race the ends of
 * runs, most of which are continued, through engines of which one is killed. Whatever was accepted is received once by
 * its chain; whatever was not is refused with run_closed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { DuctorError, systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import { openDatabase, type Database } from '../../engine/src/store/index.js';
import { createCoordinator, type Bus, type Coordinator } from '../../engine/src/workflow/coordinator/index.js';
import { decodeEntries } from '../../engine/src/workflow/journal/index.js';
import { jsonValue, type ExpressionScope, type Signal } from '../../engine/src/workflow/machine/index.js';
import { MemoryInvoker } from '../../engine/src/workflow/testing/memory-invoker.js';
import { edge, planOf, template } from '../../engine/src/workflow/testing/plan-builder.js';
import { untilDeath } from '../support/postgres-node.js';
import { closeTestBus, sharedBus } from '../support/test-bus.js';
import { postgresWorld, type PostgresProcess, type PostgresWorld } from '../support/postgres-world.js';
import { until } from '../support/wait.js';

const SENDERS = 16;
/** Runs of a chain: all but the last one end by a successor. */
const TURNS = 4;
/** Ends that are raced. */
const RACES = 200;
const CHAINS = RACES / TURNS;
/** Chains that are open at a time. */
const OPEN_CHAINS = 10;
/** So many chains have ended when an engine is killed. */
const KILLED_AFTER = CHAINS / 2;
/** Between two signals to one chain a sender waits up to this, ms. */
const GAP_MS = 100;
/** A run waits so long before it takes a signal: those that come meanwhile are early. */
const EARLY_US = 2_000;

const left = ({ input }: ExpressionScope): number => Number(input());

/** Waits, takes a signal, and ends: with a successor while turns are left. */
const PLAN = planOf({
  steps: {
    pause: { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + EARLY_US },
    note: { type: 'SIGNAL', signal: 'note', deadlineUs: () => null },
    again: { type: 'CONTINUE_AS_NEW', input: template((scope) => left(scope) - 1) },
  },
  edges: [edge('pause', 'note'), edge('note', 'again', 'SUCCESS', (scope) => left(scope) > 1)],
});

const random = systemRandom();
const clock = systemClock();

let world: PostgresWorld;
let db: Database;
let tenantId: string;

beforeEach(async () => {
  world = await postgresWorld();
  db = openDatabase({ url: world.url, applicationName: 'ductor test', maxConnections: 2 });
  tenantId = uuidV7(clock.nowUs(), random);
});
afterAll(closeTestBus);
afterEach(async () => {
  await db.close();
  await world.close();
});

interface Node {
  readonly process: PostgresProcess;
  readonly coordinator: Coordinator;
  /** Resolves once it is killed. */
  readonly death: Promise<'dead'>;
  kill(): Promise<void>;
}

async function join(bus: Bus): Promise<Node> {
  const process = await world.open();
  const [death, die] = ((): [Promise<'dead'>, () => void] => {
    let resolve = (): void => undefined;
    return [new Promise((done) => (resolve = () => done('dead'))), () => resolve()];
  })();
  let isDead = false;
  const dies = <T extends object>(store: T): T => untilDeath(store, () => isDead);
  const nodeId = uuidV7(clock.nowUs(), random);
  const coordinator = createCoordinator({
    node: { nodeId, address: `${nodeId}:7233` },
    ...{ clock, random, bus, runs: dies(process.runs), inbox: dies(process.inbox), cluster: dies(process.cluster) },
    plans: { peek: () => PLAN, load: () => Promise.resolve(PLAN), current: () => Promise.resolve(1) },
    invoker: new MemoryInvoker(),
  });
  await coordinator.run();
  return {
    ...{ process, coordinator, death },
    async kill() {
      isDead = true;
      die();
      await process.kill();
    },
  };
}

/** The nodes of a test: those that were killed are replaced by the next one. */
class Cluster {
  readonly #alive: Node[];

  constructor(nodes: readonly Node[]) {
    this.#alive = [...nodes];
  }

  at(n: number): Node {
    const node = this.#alive[n % this.#alive.length];
    if (node === undefined) throw new RangeError('no node is left');
    return node;
  }

  async kill(): Promise<void> {
    await this.#alive.shift()?.kill();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#alive.map(({ coordinator }) => coordinator.stop()));
  }
}

/** What the senders of a chain were told, by ids of signals. */
interface Told {
  readonly accepted: Set<string>;
  readonly refused: Map<string, string>;
  /** Refused after a try that may have been accepted: an engine died over it, or could not say. */
  readonly unsure: Set<string>;
}

/** Sends a signal, again by another engine when the first one dies over it, and when what it says may pass. */
async function send(cluster: Cluster, sender: number, runId: string, id: string, told: Told): Promise<boolean> {
  const signal: Signal = { name: 'note', id, payload: jsonValue(sender), by: '' };
  for (let tries = 0; ; tries += 1) {
    const node = cluster.at(sender);
    try {
      const answer = await Promise.race([node.coordinator.signal({ tenantId, runId }, signal), node.death]);
      if (answer === 'dead') continue;
      told.accepted.add(id);
      return true;
    } catch (error) {
      const { code, kind } = DuctorError.from(error);
      if (kind.retryable) {
        await pause(GAP_MS);
        continue;
      }
      told.refused.set(id, code);
      if (tries > 0) told.unsure.add(id);
      return false;
    }
  }
}

/** Starts a chain, perhaps with an early signal, and has all senders speak to it until they are refused. */
async function race(cluster: Cluster, n: number): Promise<{ readonly runId: string; readonly told: Told }> {
  const { familySlug, version } = PLAN;
  const told: Told = { accepted: new Set(), refused: new Map(), unsure: new Set() };
  const early: Signal = { name: 'note', id: 'with-start', payload: jsonValue('first'), by: '' };
  const isEarly = n % 2 === 0;
  const startKey = { key: `chain-${n}`, fingerprint: new Uint8Array(32) };
  const request = { tenantId, familySlug, version, input: jsonValue(TURNS), attributes: {}, startKey };
  let runId: string | undefined;
  while (runId === undefined) {
    const node = cluster.at(n);
    const started = node.coordinator.start({ ...request, ...(isEarly ? { signal: early } : {}) });
    const outcome = await Promise.race([started, node.death]);
    if (outcome !== 'dead') ({ runId } = outcome);
  }
  if (isEarly) told.accepted.add(early.id);
  const chain = runId;
  const speak = async (sender: number): Promise<void> => {
    for (let i = 0; await send(cluster, sender, chain, `${sender}-${i}`, told); i += 1) {
      await pause((random.uint32() / 2 ** 32) * GAP_MS);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => speak(sender)));
  return { runId, told };
}

/** What a chain received and took, in order, and how its runs ended. */
interface Seen {
  readonly received: string[];
  readonly taken: string[];
  readonly ends: string[];
}

/** All chains by their first runs, from what the journal says. */
async function seenByChains(): Promise<ReadonlyMap<string, Seen>> {
  const { rows } = await db.query<{ chain: string; entries: Buffer }>(
    `select coalesce(r.chain_id, r.run_id)::text as chain, j.entries from ductor.run_journal j
    join ductor.runs r on r.tenant_id = j.tenant_id and r.run_id = j.run_id
    where j.tenant_id = $1 order by r.chain_no nulls first, j.seq`,
    [tenantId],
  );
  const chains = new Map<string, Seen>();
  for (const { chain, entries } of rows) {
    const seen = chains.get(chain) ?? { received: [], taken: [], ends: [] };
    chains.set(chain, seen);
    for (const entry of decodeEntries(entries)) {
      if (entry.kind === 'signal_received') seen.received.push(entry.id);
      else if (entry.kind === 'signal_taken') seen.taken.push(entry.id);
      else if (entry.kind === 'run_closed') seen.ends.push(entry.status);
    }
  }
  return chains;
}

const sorted = (ids: Iterable<string>): readonly string[] => [...ids].sort();
const ENDS = [...Array.from({ length: TURNS - 1 }, () => 'CONTINUED'), 'COMPLETED'];

/** A chain received what was accepted, once, and nothing that was refused for sure; it took one signal in each run. */
function check({ received, taken, ends }: Seen, { accepted, refused, unsure }: Told): void {
  const sure = received.filter((id) => !unsure.has(id));
  expect({
    refused: [...refused.values()],
    ends,
    lost: sorted([...accepted].filter((id) => !received.includes(id))),
    unasked: sorted(sure.filter((id) => !accepted.has(id))),
    twice: received.length - new Set(received).size,
    taken: [taken.length, new Set(taken).size],
  }).toEqual({
    refused: Array.from({ length: SENDERS }, () => 'run_closed'),
    ...{ ends: ENDS, lost: [], unasked: [], twice: 0, taken: [TURNS, TURNS] },
  });
}

it('signals are seen once or refused, early ones and those in a crash included', { timeout: 300_000 }, async () => {
  const bus = await sharedBus();
  const nodes = await Promise.all([join(bus), join(bus), join(bus)]);
  const isShared = (): boolean => nodes.every(({ coordinator }) => coordinator.ownedShards().length > 50);
  await until('all engines to own shards', isShared, { limitMs: 60_000, everyMs: 50 });
  const cluster = new Cluster(nodes);
  const chains = new Map<string, Told>();
  let begun = 0;
  let killing: Promise<void> | undefined;
  const lane = async (): Promise<void> => {
    while (begun < CHAINS) {
      const { runId, told } = await race(cluster, (begun += 1));
      chains.set(runId, told);
      if (chains.size >= KILLED_AFTER) killing ??= cluster.kill();
    }
  };
  await Promise.all(Array.from({ length: OPEN_CHAINS }, lane));
  await killing;
  expect(chains.size).toBe(CHAINS);
  const seen = await seenByChains();
  expect(seen.size).toBe(CHAINS);
  const { rows } = await db.query<{ n: number }>('select count(*)::int as n from ductor.run_inbox');
  expect(rows).toEqual([{ n: 0 }]);
  for (const [runId, told] of chains) check(seen.get(runId) ?? { received: [], taken: [], ends: [] }, told);
  await cluster.stop();
});
