/** What the contract of the stores runs on, and short ways to say what a test needs. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { impossible, SHARD_COUNT, seededRandom, shardOf, uuidV7 } from '../../../kernel/index.js';
import type {
  ClusterStore,
  CommitOutcome,
  InboxStore,
  RunHeader,
  RunKey,
  RunStore,
  StoredRun,
  TickOutcome,
  TickWrite,
} from '../../coordinator/ports.js';

/** One process with its stores, over data it shares with the other processes of its world. */
export interface ContractProcess {
  readonly runs: RunStore;
  readonly inbox: InboxStore;
  readonly cluster: ClusterStore;
  /** Ends the process as SIGKILL would; its stores are not used again. Does nothing the second time. */
  kill(): Promise<void>;
  /** The next commit is written and its answer is lost. Absent where that cannot be arranged. */
  loseNextAnswer?(): void;
}

/** A fresh database and its processes. A killed node counts as dead without delay, or after `advance`. */
export interface ContractWorld {
  /** Another process. It is not registered as a node yet. */
  open(): Promise<ContractProcess>;
  /** Moves database time forward. */
  advance(ms: number): Promise<void>;
  /** Lets a few real milliseconds pass, for what takes a moment to show; nothing where all shows at once. */
  moment(): Promise<void>;
  /** Closes what is open. */
  close(): Promise<void>;
}

/** Makes a world; called for each test. */
export type MakeWorld = () => Promise<ContractWorld>;

/** A registered node of a test. */
export interface ContractNode extends ContractProcess {
  readonly nodeId: string;
}

/** Lease of the nodes of the contract, ms. */
export const LEASE_MS = 5_000;
/** All shards. */
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
/** Time of the first tick of a test; only compared with itself. */
const START_US = 1_800_000_000_000_000;

/** What the tests of a describe block share. Its parts may be used inside tests. */
export interface ContractKit {
  readonly world: ContractWorld;
  /** A registered node; with these shards and this address, if given. */
  node(shards?: readonly number[], address?: string): Promise<ContractNode>;
  /** A new id. */
  id(shard?: number): string;
  /** A new run of the tenant (default: one of its own). */
  run(options?: { readonly tenantId?: string; readonly shard?: number }): RunKey;
  /** So many bytes. */
  bytes(count: number): Uint8Array;
}

/**
 * Registers the hooks that make a world and end its processes.
 *
 * @param scope a world for each test, or one for the whole block where tests cannot disturb each other; default test
 */
export function contractKit(makeWorld: MakeWorld, scope: 'test' | 'block' = 'test'): ContractKit {
  const random = seededRandom(20_260_101);
  let world: ContractWorld | undefined;
  let processes: ContractProcess[] = [];
  let drawn = 0;
  const make = async (): Promise<void> => {
    world = await makeWorld();
  };
  const close = async (): Promise<void> => {
    await world?.close();
    world = undefined;
  };
  const endProcesses = async (): Promise<void> => {
    await Promise.all(processes.map((process) => process.kill()));
    processes = [];
  };
  if (scope === 'block') {
    beforeAll(make);
    afterEach(endProcesses);
    afterAll(close);
  } else {
    beforeEach(make);
    afterEach(close);
  }
  const get = (): ContractWorld => world ?? impossible('contract-world', 'the world is used outside a test');
  // Ids of one millisecond are in the order of their random bits; tests want the order in which they were drawn.
  const id = (shard?: number): string => uuidV7(START_US + (drawn += 1) * 1_000, random, shard);
  return {
    get world() {
      return get();
    },
    async node(shards, address) {
      const process = await get().open();
      processes.push(process);
      const nodeId = id();
      await process.cluster.register({ nodeId, address: address ?? `${nodeId}.test:7233`, leaseMs: LEASE_MS });
      if (shards !== undefined) await process.cluster.claim(nodeId, shards);
      return { ...process, nodeId };
    },
    id,
    run: (options = {}) => ({ tenantId: options.tenantId ?? id(), runId: id(options.shard) }),
    bytes: (count) => random.bytes(count),
  };
}

/** A header of the run. */
export function header(run: RunKey, change: Partial<RunHeader> = {}): RunHeader {
  return {
    tenantId: run.tenantId,
    runId: run.runId,
    shard: shardOf(run.runId),
    familySlug: 'lead-intake',
    version: 3,
    status: 'RUNNING',
    active: true,
    wakeAtUs: null,
    startedAtUs: START_US,
    closedAtUs: null,
    attributes: {},
    rootId: null,
    parentId: null,
    chain: null,
    ...change,
  };
}

/** What a run looks like once it is closed. */
export const CLOSED: Partial<RunHeader> = { status: 'COMPLETED', active: false, closedAtUs: START_US + 9 };

/** A tick of the run; its entries say which. */
export function tick(run: RunKey, seq: number, change: Partial<TickWrite> = {}): TickWrite {
  return {
    tenantId: run.tenantId,
    runId: run.runId,
    seq,
    atUs: START_US + seq,
    entries: Uint8Array.of(10, seq),
    header: null,
    snapshot: null,
    startKey: null,
    consumed: [],
    ...change,
  };
}

/** The first tick of the run. */
export function start(run: RunKey, change: Partial<RunHeader> = {}, more: Partial<TickWrite> = {}): TickWrite {
  return tick(run, 1, { header: header(run, change), ...more });
}

/** A consumption without a tick. */
export function drop(run: RunKey, consumed: readonly number[]): TickWrite {
  return tick(run, 0, { entries: new Uint8Array(0), consumed });
}

/** The outcomes of a batch that was committed. */
export function outcomes(outcome: CommitOutcome): readonly TickOutcome[] | string {
  return outcome.kind === 'committed' ? outcome.ticks : outcome.kind;
}

/** Commits on the node and gives the outcomes. */
export async function commit(
  node: ContractNode,
  ...ticks: readonly TickWrite[]
): Promise<readonly TickOutcome[] | string> {
  return outcomes(await node.runs.commit(node.nodeId, ticks));
}

/** The run as stored, bytes as plain arrays. */
export async function stored(node: ContractProcess, run: RunKey): Promise<StoredRun | undefined> {
  return (await node.runs.load([run]))[0];
}

/** Seqs of the rows a load of the run gives. */
export async function seqs(node: ContractProcess, run: RunKey): Promise<readonly number[] | undefined> {
  return (await stored(node, run))?.rows.map((row) => row.seq);
}

/** Bytes as numbers, so that Buffer and Uint8Array compare equal. */
export function numbers(bytes: Uint8Array | undefined): readonly number[] {
  return bytes === undefined ? [] : [...bytes];
}

/** Asks again until the answer is right, for what takes a moment to show. Gives the last answer. */
export async function eventually<T>(
  world: ContractWorld,
  ask: () => Promise<T>,
  isRight: (answer: T) => boolean,
): Promise<T> {
  let answer = await ask();
  for (let tries = 0; tries < 400 && !isRight(answer); tries += 1) {
    await world.moment();
    answer = await ask();
  }
  return answer;
}
