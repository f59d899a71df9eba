/** What a lane computes ticks with, and how it sends them: plainly, or behind the locks of the gate lane. */
import { uuidV7 } from '../../kernel/index.js';
import type { CommitEnvironment } from './commit-batch.js';
import { GateBatch, sendGated } from './gate.js';
import type { BatchMember } from './hooks.js';
import type { Tick, TickEnvironment } from './tick.js';
import type { World } from './world.js';

/** See above. */
export interface LaneEnvironments {
  readonly tick: TickEnvironment;
  readonly plain: CommitEnvironment;
  readonly gated: CommitEnvironment;
}

/** The runs of a batch, for its trace. */
export function membersOf(ticks: readonly Tick[]): readonly BatchMember[] {
  return ticks.map(({ cell, next }) => ({ runId: cell.runId, traceparent: (next ?? cell.state)?.traceparent }));
}

/**
 * The environments of a lane.
 *
 * @param committed told of each statement
 */
export function laneEnvironments(world: World, committed: CommitEnvironment['committed']): LaneEnvironments {
  const { clock, random, heartbeats, runs, nodeId } = world;
  const { maxTickInputs: maxInputs, maxBatchBytes: maxBytes, payloadBytes } = world.options;
  const newId = (shard?: number): string => uuidV7(clock.nowUs(), random, shard);
  const mayCommit = (): boolean => world.hasLease() && !world.isEnded();
  return {
    tick: { clock, random, newId, maxInputs, maxBytes, payloadBytes, heartbeats },
    plain: {
      ...{ clock, mayCommit, committed },
      send: (ticks) =>
        runs.commit(
          nodeId,
          ticks.map(({ write }) => write),
        ),
    },
    gated: {
      ...{ clock, mayCommit, committed },
      send: (ticks) => {
        const batch = new GateBatch(ticks, () => clock.monotonicMs(), newId);
        return sendGated(batch, (locks, decide) => runs.commitGated(nodeId, locks, decide));
      },
    },
  };
}
