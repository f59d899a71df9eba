/** RunStore, InboxStore, ClusterStore and PlanSource of one simulated process. */
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type {
  ClusterStore,
  ClusterView,
  InboxStore,
  PlanSource,
  RunKey,
  RunStore,
  StoredRun,
} from '../../../engine/src/workflow/coordinator/ports.js';
import type { Plan } from '../../../engine/src/workflow/machine/index.js';
import { runName } from '../checks/names.js';
import type { Truth } from '../checks/truth.js';
import type { Sim } from '../core/sim.js';
import type { Line } from './line.js';
import type { Server, Writer } from './server.js';

/** Marks what a load means for the process. */
function markLoad(sim: Sim, seen: Set<string>, run: StoredRun): void {
  const { header, snapshot } = run;
  if (snapshot !== null) sim.marks.reach('snapshot_loaded');
  if (seen.has(runName(run))) sim.marks.reach('evicted_and_loaded');
  else if (!header.active && header.wakeAtUs !== null) sim.marks.reach('due_scan');
}

/** Journal, headers and start keys over a line. */
export function simRunStore(sim: Sim, line: Line): RunStore {
  const { server } = line;
  const { db } = server;
  /** Runs whose last commit of this process was answered "written". */
  const sure = new Set<string>();
  return {
    async commit(nodeId, ticks) {
      for (const write of ticks) sure.delete(runName(write));
      const outcome = await line.commit(nodeId, ticks);
      if (outcome.kind !== 'committed') return outcome;
      for (const [index, write] of ticks.entries()) {
        if (outcome.ticks[index] === 'written') sure.add(runName(write));
      }
      return outcome;
    },
    async commitGated(nodeId, locks, decide) {
      for (const runId of locks.runIds) for (const name of sure) if (name.endsWith(runId)) sure.delete(name);
      return line.commitGated(nodeId, locks, decide);
    },
    askStrategies: (selection, said) => line.ask('question to apps', () => db.reservations.ask(selection, said)),
    settle: (nodeId) => line.ask('settle', () => server.settle(nodeId)),
    load: (keys: readonly RunKey[]) =>
      line.ask(`load of ${keys.length}`, () => {
        const found = db.load(keys);
        for (const run of found) markLoad(sim, sure, run);
        return found;
      }),
    payloads: (keys) =>
      line.ask(`load of ${keys.length} payloads`, () => {
        const found = db.payloads(keys);
        if (found.length > 0) sim.marks.reach('payloads_loaded');
        return found;
      }),
    listActive: (shards, after, limit) => line.ask('list of active', () => db.listActive(shards, after, limit)),
    listDue: (shards, horizonUs, limit) => line.ask('list of due', () => db.listDue(shards, horizonUs, limit)),
    findStarts: (keys) =>
      line.ask(`find of ${keys.length} starts`, () =>
        keys.map(({ tenantId, familySlug, key }) => db.findStart(tenantId, familySlug, key)),
      ),
  };
}

/** The mailbox over a line. */
export function simInboxStore(line: Line): InboxStore {
  const { server } = line;
  return {
    send: (messages) => line.ask(`mail of ${messages.length}`, () => server.send(messages)),
    read: (shards, limit) => line.ask(`read of mail`, () => server.readInbox(shards, limit)),
  };
}

function heartbeat(sim: Sim, server: Server, nodeId: string, leaseMs: number): ClusterView {
  const self = server.db.nodes.get(nodeId);
  if (self !== undefined && !self.isFenced && self.leaseUntilUs < sim.nowUs) sim.marks.reach('lease_lapsed');
  const view = server.db.heartbeat(nodeId, leaseMs);
  if (server.flapping.has(nodeId)) server.db.closeSession(nodeId);
  if (view.fenced) sim.marks.reach('heartbeat_fenced');
  return view;
}

function takeOver(sim: Sim, server: Server, takerId: string, deadId: string, shards: readonly number[]) {
  const dead = server.db.nodes.get(deadId);
  const isExpired = dead !== undefined && dead.leaseUntilUs <= sim.nowUs;
  const moved = server.db.takeOver(takerId, deadId, shards);
  if (moved.length > 0) {
    sim.marks.reach(isExpired ? 'takeover_after_lease' : 'takeover_by_session');
    sim.note(`${takerId.slice(-4)} took ${moved.length} shards of ${deadId.slice(-4)}`);
  }
  return moved;
}

/** Membership over a line. */
export function simClusterStore(sim: Sim, line: Line, writer: Writer): ClusterStore {
  const { server } = line;
  const { db } = server;
  return {
    register: ({ nodeId, address, leaseMs }) =>
      line.ask(`register ${nodeId.slice(-4)}`, () => {
        if (writer.nodeIds.size > 0 && !writer.nodeIds.has(nodeId)) sim.marks.reach('reborn_after_fence');
        writer.nodeIds.add(nodeId);
        writer.isZombie = false;
        db.register(nodeId, address, leaseMs);
      }),
    heartbeat: (nodeId, leaseMs) => line.ask('heartbeat', () => heartbeat(sim, server, nodeId, leaseMs), writer.isMute),
    claim: (nodeId, shards) =>
      line.ask('claim', () => {
        const claimed = db.claim(nodeId, shards);
        if (claimed.some((shard) => server.given.has(shard))) sim.marks.reach('shards_claimed_again');
        return claimed;
      }),
    takeOver: (takerId, deadId, shards) =>
      line.ask(`takeover of ${deadId.slice(-4)}`, () => takeOver(sim, server, takerId, deadId, shards)),
    handOver: (nodeId, toNodeId, shards) =>
      line.ask(`hand-over of ${shards.length}`, () => {
        if (!db.handOver(nodeId, toNodeId, shards)) throw new DuctorError('node_fenced', `${nodeId} or ${toNodeId}`);
        sim.marks.reach('shards_handed_over');
      }),
    probe: (nodeId, runs) =>
      line.ask(`probe of ${runs.length}`, () => {
        const isOurs = db.isUnfenced(nodeId);
        if (isOurs) db.crashes.name(nodeId, runs);
        return isOurs;
      }),
    crashes: (shards) => line.ask('read of crashes', () => db.crashes.crashes(shards)),
    quarantined: (run) => line.ask('quarantine of a run', () => db.crashes.quarantined(run)),
    leave: (nodeId) =>
      line.ask('leave', () => {
        server.leave(nodeId);
      }),
  };
}

/** Definitions over a line; loaded once per process. */
export function simPlanSource(line: Line, truth: Truth): PlanSource {
  const known = new Map<string, Plan>();
  const nameOf = (family: string, version: number): string => `${family}/${version}`;
  return {
    current: (_, familySlug) => line.ask('look-up of a current version', () => truth.currentVersion(familySlug)),
    peek: (_, familySlug, version) => known.get(nameOf(familySlug, version)),
    load: async (_, familySlug, version) => {
      const plan = await line.ask('load of a plan', () => truth.plan(familySlug, version));
      if (plan !== undefined) known.set(nameOf(familySlug, version), plan);
      return plan;
    },
  };
}
