/**
 * Tasks a second over one worker stream: the real bridge and guard behind a real port, a worker in a process of its
 * own, so many tasks in flight. The coordinator is a stand-in that answers each result in the next turn and hands out
 * the next task: the figure is the bridge's alone.
 *
 * Run: npx tsx bench/bridge/stream.ts [in flight, default 64] [seconds, default 5]
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { work } from '../../engine/src/api/grpc/bridge-service.js';
import { ServiceBuilder } from '../../engine/src/api/grpc/service.js';
import { Bridge, taskTokens } from '../../engine/src/bridge/index.js';
import { runId, task, tenantId } from '../../engine/src/bridge/testing/tasks.js';
import { BridgeServiceService } from '../../engine/src/gen/ductor/v1/bridge.js';
import { clusterSecret, DuctorError, systemClock, systemRandom } from '../../engine/src/kernel/index.js';

const IN_FLIGHT = Number(process.argv[2] ?? 64);
const SECONDS = Number(process.argv[3] ?? 5);

const clock = systemClock();
let settled = 0;
let next = 0;
let answers: (() => void)[] = [];

const bridge = new Bridge({
  nodeId: 'bench',
  clock,
  tokens: taskTokens(clusterSecret('a secret for the bench, 32 bytes.'), systemRandom()),
  register: () => Promise.resolve({ version: 1, isNew: false }),
});

const nextTask = (): ReturnType<typeof task> => task({ runId: runId((next += 1)) });

/** What a commit does: answers everything that gathered and hands out what follows. */
function commit(): void {
  const batch = answers;
  answers = [];
  for (const answer of batch) answer();
  settled += batch.length;
  bridge.dispatch(batch.map(nextTask));
}

bridge.attach({
  settle: (_ref, _outcome, answer) => {
    if (answers.length === 0) setImmediate(commit);
    answers.push(() => answer('recorded'));
  },
  keep: () => undefined,
  sent: () => undefined,
  workerConnected: () => bridge.dispatch(Array.from({ length: IN_FLIGHT }, nextTask)),
  workerGone: () => undefined,
  recheck: () => undefined,
  liveAddresses: () => [],
});

const principal = {
  tenantId: tenantId(1),
  principalId: 'bench',
  name: 'bench',
  scopes: new Set(['bridge:work'] as const),
};
const services = new ServiceBuilder({
  tenancy: {
    authenticate: () => principal,
    trail: { note: () => undefined, flush: () => Promise.resolve() },
  },
  clock,
  report: (caught) => DuctorError.from(caught),
}).bidi(BridgeServiceService.work, work(bridge));
const server = new Server();
server.addService(services.definition, services.handlers);
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  const worker = fork(
    fileURLToPath(new URL('./stream-worker.ts', import.meta.url)),
    [String(port), String(IN_FLIGHT)],
    {
      execArgv: ['--import', 'tsx'],
    },
  );
  // The first second warms up.
  setTimeout(() => {
    const before = settled;
    const cpuBefore = process.cpuUsage();
    const startMs = performance.now();
    setTimeout(() => {
      const seconds = (performance.now() - startMs) / 1000;
      const rate = Math.round((settled - before) / seconds);
      const { user, system } = process.cpuUsage(cpuBefore);
      const cpuUs = ((user + system) / (settled - before)).toFixed(1);
      console.log(`${IN_FLIGHT} in flight: ${rate} tasks/s, ${cpuUs} us of the engine's CPU a task`);
      worker.kill();
      server.forceShutdown();
      bridge.close();
    }, SECONDS * 1000);
  }, 2_000);
});
