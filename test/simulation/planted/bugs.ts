/**
 * Bugs planted by wrapping the ports of the engines. Each has to be caught within 500 seeds: a simulator that lets one
 * live would let the same bug live in the engine. Production code knows nothing of them.
 */
import { shardOf } from '../../../engine/src/kernel/index.js';
import type { Coordinator } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type {
  ClusterStore,
  ClusterView,
  CommitOutcome,
  InboxStore,
  RunStore,
  TickWrite,
} from '../../../engine/src/workflow/coordinator/ports.js';
import type { BugWorld, EnginePorts, PlantedBug } from '../cast/engine.js';
import { runName } from '../checks/names.js';
import { LENT_IN_FAMILY, RECORDED_AFTERWARDS, RESET_TAKES_ALL } from './admission-bugs.js';
import { CLAIMED_TWICE, CLAIMS_LEFT } from './claim-bugs.js';
import { CONDITIONS_FORGOTTEN, OUTPUTS_SWAPPED } from './outcome-bugs.js';
import { LIMITED_BEFORE_LOCKING, PROBES_FORGOTTEN, SEATS_LEFT } from './seat-bugs.js';
import { WORK_LEFT } from './queue-bugs.js';

function withRuns(ports: EnginePorts, runs: Partial<RunStore>): EnginePorts {
  return { ...ports, runs: { ...ports.runs, ...runs } };
}

function withCluster(ports: EnginePorts, cluster: Partial<ClusterStore>): EnginePorts {
  return { ...ports, cluster: { ...ports.cluster, ...cluster } };
}

function withInbox(ports: EnginePorts, inbox: Partial<InboxStore>): EnginePorts {
  return { ...ports, inbox: { ...ports.inbox, ...inbox } };
}

/** Changes what a commit answers or is given. */
function withCommit(
  ports: EnginePorts,
  commit: (inner: RunStore, nodeId: string, ticks: readonly TickWrite[]) => Promise<CommitOutcome>,
): EnginePorts {
  return withRuns(ports, { commit: (nodeId, ticks) => commit(ports.runs, nodeId, ticks) });
}

/** Some node that may write. */
function liveNode({ server }: BugWorld): string | undefined {
  return [...server.db.nodes.values()].find((node) => !node.isFenced)?.nodeId;
}

/** Every tick as the first outcome would have it, whatever it was. */
function allWritten(ticks: readonly TickWrite[]): CommitOutcome {
  return { kind: 'committed', ticks: ticks.map(() => 'written' as const) };
}

const FENCE_REMOVED: PlantedBug = {
  name: 'fence_removed',
  what: 'the commit of a fenced node is written all the same',
  ports: (ports, world) =>
    withCommit(ports, async (inner, nodeId, ticks) => {
      const outcome = await inner.commit(nodeId, ticks);
      const other = outcome.kind === 'fenced' ? liveNode(world) : undefined;
      return other === undefined ? outcome : inner.commit(other, ticks);
    }),
};

/** How long a batch waits for its locks where it counts before it has them, microseconds. */
const LOCK_WAIT_US = 100_000;

const COUNTED_BEFORE_LOCKING: PlantedBug = {
  name: 'counted_before_locking',
  what: 'the gate lane decides by what it read before it had its locks',
  ports: (ports, { server }) =>
    withRuns(ports, {
      commitGated: async (nodeId, locks, decide) => {
        const early = server.readGate(locks);
        // As long as somebody else may hold the locks.
        await new Promise<void>((resolve) =>
          server.sim.scheduler.after(LOCK_WAIT_US, null, 'the locks are free', () => resolve()),
        );
        return ports.runs.commitGated(nodeId, locks, () => decide(early));
      },
    }),
};

const RELEASED_OVER_CHILDREN: PlantedBug = {
  name: 'released_over_children',
  what: 'what a run holds is released when it ends, whoever below it is still open',
  ports: (ports) =>
    withRuns(ports, {
      commitGated: (nodeId, locks, decide) =>
        ports.runs.commitGated(nodeId, locks, (usage) => {
          const families = usage.reservations.families.map((family) => {
            return { ...family, runs: family.runs.filter(({ parentId }) => parentId === null) };
          });
          return decide({ ...usage, reservations: { ...usage.reservations, families } });
        }),
    }),
};

const ACK_BEFORE_COMMIT: PlantedBug = {
  name: 'ack_before_commit',
  what: 'a commit is answered as written before it is sent',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) => {
      inner.commit(nodeId, ticks).catch(() => undefined);
      return Promise.resolve(allWritten(ticks));
    }),
};

const APPLIED_AGAIN: PlantedBug = {
  name: 'applied_again',
  what: 'after an unknown outcome the same entries are appended once more, as new rows',
  ports: (ports, { server }) =>
    withCommit(ports, async (inner, nodeId, ticks) => {
      const outcome = await inner.commit(nodeId, ticks);
      if (outcome.kind !== 'unknown') return outcome;
      const next = ticks.map((write) => {
        const last = server.db.runs.get(runName(write))?.rows.at(-1)?.seq ?? 0;
        return last === 0 || write.entries.byteLength === 0 ? write : { ...write, seq: last + 1 };
      });
      return inner.commit(nodeId, next);
    }),
};

const ATTEMPTS_RENUMBERED: PlantedBug = {
  name: 'attempts_renumbered',
  what: 'a result that comes late or twice counts for the attempt that is open now',
  coordinator: (coordinator, { truth }) =>
    facade(coordinator, {
      settle: (ref, outcome, settled) => {
        const open = truth.state(ref)?.steps.get(ref.path)?.attempt ?? ref.attempt;
        coordinator.settle({ ...ref, attempt: Math.max(open, ref.attempt) }, outcome, settled);
      },
    }),
};

const UNKNOWN_AS_WRITTEN: PlantedBug = {
  name: 'unknown_as_written',
  what: 'a commit whose answer is lost is taken for written',
  ports: (ports) =>
    withCommit(ports, async (inner, nodeId, ticks) => {
      const outcome = await inner.commit(nodeId, ticks);
      return outcome.kind === 'unknown' ? allWritten(ticks) : outcome;
    }),
};

const TIMER_EARLY: PlantedBug = {
  name: 'timer_early',
  what: 'the error of the estimate of database time is not taken off',
  ports: (ports) => ({ ...ports, clock: { ...ports.clock, errorUs: () => 0 } }),
};

const NO_SWEEP: PlantedBug = {
  name: 'no_sweep',
  what: 'mailboxes are read only after a hint: a lost wake-up is never made good',
  ports: (ports) =>
    withCluster(ports, {
      heartbeat: async (nodeId, leaseMs) => ({ ...(await ports.cluster.heartbeat(nodeId, leaseMs)), inboxShards: [] }),
    }),
};

const MAIL_KEPT: PlantedBug = {
  name: 'mail_kept',
  what: 'consumed messages are not deleted',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) =>
      inner.commit(
        nodeId,
        ticks.map((write) => ({ ...write, consumed: [] })),
      ),
    ),
};

const MAIL_DROPPED: PlantedBug = {
  name: 'mail_dropped',
  what: 'a message is answered as kept and is not',
  ports: (ports) =>
    withInbox(ports, {
      send: (messages) => Promise.resolve(messages.map(() => 'sent' as const)),
    }),
};

const TAKEOVER_WITHOUT_FENCE: PlantedBug = {
  name: 'takeover_without_fence',
  what: 'shards of a node whose lease ran out are moved, and the node is not fenced',
  ports: (ports, { server, sim }) =>
    withCluster(ports, {
      takeOver: async (takerId, deadNodeId, shards) => {
        const dead = server.db.nodes.get(deadNodeId);
        if (dead === undefined || (dead.leaseUntilUs > sim.nowUs && dead.isSessionOpen)) return [];
        await ports.cluster.handOver(deadNodeId, takerId, shards);
        return shards;
      },
    }),
};

const KEY_FORGOTTEN: PlantedBug = {
  name: 'key_forgotten',
  what: 'idempotency keys are not claimed',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) =>
      inner.commit(
        nodeId,
        ticks.map((write) => ({ ...write, startKey: null })),
      ),
    ),
};

const HEADER_KEPT: PlantedBug = {
  name: 'header_kept',
  what: 'headers are written at the start only',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) =>
      inner.commit(
        nodeId,
        ticks.map((write) => (write.seq === 1 ? write : { ...write, header: null })),
      ),
    ),
};

const DISPATCH_FORGOTTEN: PlantedBug = {
  name: 'dispatch_forgotten',
  what: 'now and then a task is lost between the coordinator and its invoker',
  ports: (ports, { sim }) => ({
    ...ports,
    invoker: {
      ...ports.invoker,
      dispatch: (tasks) => ports.invoker.dispatch(tasks.filter(() => !sim.choices.chance(0.1))),
    },
  }),
};

const DISPATCH_REPEATED: PlantedBug = {
  name: 'dispatch_repeated',
  what: 'tasks are kept and dispatched once more later, whatever became of them',
  ports: (ports, { sim }) => ({
    ...ports,
    invoker: {
      ...ports.invoker,
      dispatch: (tasks) => {
        ports.invoker.dispatch(tasks);
        ports.clock.setTimer(sim.choices.int(500, 3_000), () => ports.invoker.dispatch(tasks));
      },
    },
  }),
};

const SHARD_LOST: PlantedBug = {
  name: 'shard_lost',
  what: 'due runs of one half of the shards are not listed',
  ports: (ports) =>
    withRuns(ports, {
      listDue: async (shards, horizonUs, limit) => {
        const due = await ports.runs.listDue(shards, horizonUs, limit);
        return due.filter((run) => shardOf(run.runId) >= 128);
      },
    }),
};

const ACTIVE_FORGOTTEN: PlantedBug = {
  name: 'active_forgotten',
  what: 'a takeover does not load the runs that were active',
  ports: (ports) => withRuns(ports, { listActive: () => Promise.resolve([]) }),
};

const LEASE_IMAGINED: PlantedBug = {
  name: 'lease_imagined',
  what: 'a heartbeat that failed is taken for one that renewed the lease',
  ports: (ports) => {
    let last: ClusterView | undefined;
    return withCluster(ports, {
      heartbeat: async (nodeId, leaseMs) => {
        try {
          last = await ports.cluster.heartbeat(nodeId, leaseMs);
          return last;
        } catch (error) {
          if (last === undefined || last.fenced) throw error;
          return last;
        }
      },
    });
  },
};

const REPLICA_READ: PlantedBug = {
  name: 'replica_read',
  what: 'runs are loaded from a replica that lags behind by one row now and then',
  ports: (ports, { sim }) =>
    withRuns(ports, {
      load: async (keys) => {
        const found = await ports.runs.load(keys);
        return found.map((run) => (sim.choices.chance(0.3) ? { ...run, rows: run.rows.slice(0, -1) } : run));
      },
    }),
};

const RESULT_ACK_EARLY: PlantedBug = {
  name: 'result_ack_early',
  what: 'results are acknowledged when they come in',
  coordinator: (coordinator) =>
    facade(coordinator, {
      settle: (ref, outcome, settled) => {
        settled('recorded');
        coordinator.settle(ref, outcome, () => undefined);
      },
    }),
};

const SNAPSHOT_TORN: PlantedBug = {
  name: 'snapshot_torn',
  what: 'the last bytes of a snapshot are missing',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) =>
      inner.commit(
        nodeId,
        ticks.map((write) => (write.snapshot === null ? write : { ...write, snapshot: write.snapshot.slice(0, -4) })),
      ),
    ),
};

const END_UNREAD: PlantedBug = {
  name: 'end_unread',
  what: 'a run ends without a look into its mailbox',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) =>
      inner.commit(
        nodeId,
        ticks.map((write) => ({ ...write, needsEmptyBox: false })),
      ),
    ),
};

/** The canary: it breaks a row so plainly that a harness which says nothing is broken itself. */
export const CANARY: PlantedBug = {
  name: 'canary',
  what: 'every second row of a run is written under the next number',
  ports: (ports) =>
    withCommit(ports, (inner, nodeId, ticks) =>
      inner.commit(
        nodeId,
        ticks.map((write) => (write.seq % 2 === 0 ? { ...write, seq: write.seq + 1 } : write)),
      ),
    ),
};

/** All bugs but the canary. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  FENCE_REMOVED,
  COUNTED_BEFORE_LOCKING,
  RELEASED_OVER_CHILDREN,
  CLAIMED_TWICE,
  CLAIMS_LEFT,
  LIMITED_BEFORE_LOCKING,
  SEATS_LEFT,
  PROBES_FORGOTTEN,
  LENT_IN_FAMILY,
  RECORDED_AFTERWARDS,
  RESET_TAKES_ALL,
  WORK_LEFT,
  ACK_BEFORE_COMMIT,
  APPLIED_AGAIN,
  ATTEMPTS_RENUMBERED,
  UNKNOWN_AS_WRITTEN,
  TIMER_EARLY,
  NO_SWEEP,
  MAIL_KEPT,
  MAIL_DROPPED,
  TAKEOVER_WITHOUT_FENCE,
  KEY_FORGOTTEN,
  HEADER_KEPT,
  DISPATCH_FORGOTTEN,
  DISPATCH_REPEATED,
  SHARD_LOST,
  ACTIVE_FORGOTTEN,
  LEASE_IMAGINED,
  REPLICA_READ,
  RESULT_ACK_EARLY,
  SNAPSHOT_TORN,
  END_UNREAD,
  OUTPUTS_SWAPPED,
  CONDITIONS_FORGOTTEN,
];

/** The coordinator with some of its methods replaced. */
function facade(inner: Coordinator, changed: Partial<Coordinator>): Coordinator {
  return new Proxy(inner, {
    get(target, name) {
      const replaced: unknown = Reflect.get(changed, name);
      if (replaced !== undefined) return replaced;
      const own: unknown = Reflect.get(target, name);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}
