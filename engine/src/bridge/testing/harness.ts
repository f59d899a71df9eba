/** A bridge with streams and a coordinator that only write down what happens, on a clock that the test moves. */
import type { WorkRequest, WorkResponse, WorkerHello } from '../../gen/ductor/v1/bridge.js';
import { WorkRequest as WorkRequestMessage } from '../../gen/ductor/v1/bridge.js';
import type { DeepPartial } from '../../gen/google/protobuf/struct.js';
import { clusterSecret, seededRandom, type DuctorError } from '../../kernel/index.js';
import { manualClock, type ManualClock } from '../../kernel/testing/manual-clock.js';
import { Bridge, type BridgeOptions, type OpenedStream } from '../bridge.js';
import type { AttemptOutcome, AttemptRef, BridgeCoordinator, ResultAck, RunKey, SubStep, Value } from '../ports.js';
import { taskTokens, type TaskTokens } from '../token.js';
import { tenantId } from './tasks.js';

/** What the coordinator was told. */
export interface Told {
  readonly settled: { ref: AttemptRef; outcome: AttemptOutcome; answer: (ack: ResultAck) => void }[];
  readonly kept: { ref: AttemptRef; subStep: SubStep; answer: (ack: ResultAck) => void }[];
  readonly sent: { worker: string; refs: readonly AttemptRef[] }[];
  readonly connected: { worker: string; holds: readonly AttemptRef[] }[];
  readonly gone: string[];
  readonly alive: string[];
  readonly beats: { ref: AttemptRef; progress: Value | null }[];
  readonly rechecked: RunKey[];
}

/** A stream as its worker sees it. */
export interface FakeWorker {
  /** Messages of the node. */
  readonly received: WorkResponse[];
  /** How the node ended it; undefined while it is open. */
  ending: DuctorError | null | undefined;
  /** What the next writes answer. */
  takesMore: boolean;
  isPaused: boolean;
  readonly events: OpenedStream;
  /** Sends a message and lets the node finish its turn. */
  send(message: DeepPartial<WorkRequest>): void;
}

/** A bridge in a box. */
export interface BridgeHarness {
  readonly bridge: Bridge;
  readonly clock: ManualClock;
  readonly tokens: TaskTokens;
  readonly told: Told;
  /** Opens a stream without a hello. */
  open(tenant?: number): FakeWorker;
  /** Opens a stream, says hello and waits until it is registered. */
  join(hello?: DeepPartial<WorkerHello>, tenant?: number): Promise<FakeWorker>;
}

/** Id of a worker by a small number. */
export const workerId = (number: number): string => `00000000-0000-4000-8000-${number.toString().padStart(12, '0')}`;

/** Hello of a worker of 10 slots that can do what the tasks of testing/tasks.ts ask for. */
export const HELLO: DeepPartial<WorkerHello> = {
  workerId: workerId(1),
  slots: 10,
  workflows: [{ definition: { familySlug: 'flow' }, handlers: ['work'] }],
};

/** Lets promises that are settled run. */
export async function promises(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** A coordinator that notes what it is told. */
function listening(told: Told): BridgeCoordinator {
  return {
    settle: (ref, outcome, answer) => void told.settled.push({ ref, outcome, answer }),
    keep: (ref, subStep, answer) => void told.kept.push({ ref, subStep, answer }),
    sent: (worker, refs) => void told.sent.push({ worker, refs }),
    heartbeat: (ref, progress) => void told.beats.push({ ref, progress }),
    workerConnected: (worker, holds) => void told.connected.push({ worker, holds }),
    workerGone: (worker) => void told.gone.push(worker),
    workerAlive: (worker) => void told.alive.push(worker),
    recheck: (runs) => void told.rechecked.push(...runs),
    liveAddresses: () => ['10.0.0.1:7400', '10.0.0.2:7400'],
  };
}

/** Makes one. */
export function bridgeHarness(options: Partial<BridgeOptions> = {}): BridgeHarness {
  const clock = manualClock();
  const tokens = taskTokens(clusterSecret('a secret for tests, 32 bytes long'), seededRandom(5));
  const told: Told = { settled: [], kept: [], sent: [], connected: [], gone: [], alive: [], beats: [], rechecked: [] };
  const coordinator = listening(told);
  const register: BridgeOptions['register'] = () => Promise.resolve({ version: 1, isNew: true });
  const bridge = new Bridge({ nodeId: 'node', clock, tokens, register, ...options });
  bridge.attach(coordinator);

  const open = (tenant = 1): FakeWorker => {
    const received: WorkResponse[] = [];
    const principal = {
      tenantId: tenantId(tenant),
      principalId: 'key',
      name: 'key',
      scopes: new Set(['bridge:work'] as const),
    };
    const worker: FakeWorker = {
      received,
      ending: undefined,
      takesMore: true,
      isPaused: false,
      events: bridge.open(principal, {
        write: (message) => {
          received.push(message);
          return worker.takesMore;
        },
        pause: () => void (worker.isPaused = true),
        resume: () => void (worker.isPaused = false),
        end: (error) => void (worker.ending = error),
      }),
      send: (message) => {
        worker.events.received(WorkRequestMessage.fromPartial(message));
        clock.settle();
      },
    };
    return worker;
  };
  return {
    bridge,
    clock,
    tokens,
    told,
    open,
    async join(hello = {}, tenant = 1) {
      const worker = open(tenant);
      worker.send({ hello: { ...HELLO, ...hello } });
      await promises();
      clock.settle();
      return worker;
    },
  };
}
