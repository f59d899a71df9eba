/** Judges nodes, shards, mailbox and runs. Pure. */
import type { ClusterReport, NodeReport, RunCount, StuckRuns } from '../../workflow/index.js';
import { spanText } from '../output/times.js';
import { counted, fail, type Finding, ok, warn } from './finding.js';

const INBOX_WARN = 1_000;
const INBOX_FAIL = 50_000;
const MS = 1_000;

/** Whether the node is a member of the cluster. */
export const isLive = ({ leaseMs, isFenced }: NodeReport): boolean => leaseMs > 0 && !isFenced;

function nodes({ nodes: all }: ClusterReport): readonly Finding[] {
  const live = all.filter(isLive);
  const dead = all.filter((node) => !isLive(node) && node.shards > 0);
  const probing = all.filter(({ probingRun }) => probingRun !== null);
  const names = live.map(({ address, shards }) => `${address} with ${counted(shards, 'shard')}`);
  return [
    live.length > 0
      ? ok('nodes', `${counted(live.length, 'node')} live: ${names.join(', ')}`)
      : fail('nodes', 'no node is live', 'No run goes on.', 'Start an engine: `ductor start`, or `ductor dev`.'),
    ...dead.map(({ nodeId, address, leaseMs, shards, isFenced }) =>
      fail(
        'nodes',
        `node ${nodeId} at ${address} owns ${counted(shards, 'shard')}, ` +
          (isFenced ? 'and is fenced' : `and its lease ran out ${spanText(-leaseMs * MS)} ago`),
        'Runs of these shards stand still until another node takes them over, which takes seconds where one is live.',
        live.length > 0 ? 'Look in the logs of the live nodes for why they do not.' : 'Start an engine.',
      ),
    ),
    ...probing.map(({ address, probingRun }) =>
      warn(
        'nodes',
        `the node at ${address} tries run ${probingRun ?? ''} alone`,
        'An earlier node ended while it worked on this run.',
        'Look at the run; after three crashes it is parked.',
      ),
    ),
  ];
}

function shards({ ownerlessShards }: ClusterReport): Finding {
  if (ownerlessShards.length === 0) return ok('shards', 'all 256 have a live owner');
  return fail(
    'shards',
    `${counted(ownerlessShards.length, 'shard')} of 256 without a live owner`,
    'Runs in them stand still.',
    'Start an engine; where one runs, it takes them within its lease time.',
  );
}

function inbox({ inbox: { waiting, ownerless } }: ClusterReport): Finding {
  const strays = ownerless > 0 ? `, ${ownerless} for shards without an owner` : '';
  const found = `${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}${strays}`;
  if (waiting <= INBOX_WARN && ownerless === 0) return ok('mailbox', found);
  const meaning = 'Signals, cancels and results of other nodes wait longer than they should.';
  const remedy = 'See what the nodes do: their commit times (ductor_commit_seconds), their processors, their logs.';
  return waiting > INBOX_FAIL || ownerless > INBOX_WARN
    ? fail('mailbox', found, meaning, remedy)
    : warn('mailbox', found, meaning, remedy);
}

const named = ({ examples }: RunCount): string => `, for example ${examples.join(', ')}`;

/** Findings about nodes, shards and mailbox. */
export function judgeCluster(report: ClusterReport): readonly Finding[] {
  return [...nodes(report), shards(report), inbox(report)];
}

/** Findings about runs. */
export function judgeRuns({ ownerless, overdue, parked, areMoreParked }: StuckRuns): readonly Finding[] {
  return [
    ownerless.count === 0
      ? ok('runs.stuck', 'every active run has a node')
      : fail(
          'runs.stuck',
          `${counted(ownerless.count, 'active run')} in shards that no live node owns${named(ownerless)}`,
          'They stand still.',
          'Start an engine.',
        ),
    overdue.count === 0
      ? ok('runs.overdue', 'none waits past its time')
      : fail(
          'runs.overdue',
          `${counted(overdue.count, 'run')} past their time by up to ${spanText(overdue.latestMs * MS)}` +
            named(overdue),
          'A live node owns them and does not go on with them.',
          'Restart that node, and file an issue with its log: this must not happen.',
        ),
    ...(parked.length === 0 ? [ok('runs.parked', 'none')] : []),
    ...parked.map((kind) =>
      warn(
        'runs.parked',
        `${counted(kind.count, 'run')} parked for ${kind.code}${named(kind)}`,
        'They wait for people.',
        'See why: ductor run show RUN. Go on: ductor run retry RUN. Give up: ductor run terminate RUN.',
      ),
    ),
    ...(areMoreParked
      ? [warn('runs.parked', 'and more than were looked at', 'They wait for people.', 'As above.')]
      : []),
  ];
}
