/** Tries to reach every node of a cluster, as workers and other nodes do. */
import { connect } from 'node:net';
import type { ClusterReport } from '../../workflow/index.js';
import { counted, type Finding, ok, warn } from './finding.js';
import { isLive } from './judge-runs.js';

/** How long a node may take to accept a connection, ms. */
const LIMIT_MS = 2_000;

/** Whether something accepts connections at host:port. */
function isReached(address: string): Promise<boolean> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, '$1');
  const port = Number(address.slice(at + 1));
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: LIMIT_MS });
    const end = (reached: boolean): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.on('connect', () => end(true));
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(false));
  });
}

/** Whether the nodes can be reached from here; nothing where there are not several. Never throws. */
export async function examineNodes({ nodes }: Pick<ClusterReport, 'nodes'>): Promise<readonly Finding[]> {
  const live = nodes.filter(isLive);
  if (live.length < 2) return [];
  const reached = await Promise.all(live.map(({ address }) => isReached(address)));
  const missed = live.filter((_, index) => reached[index] === false).map(({ address }) => address);
  const found = `${counted(live.length, 'node')} at their addresses, from here`;
  if (missed.length === 0) return [ok('nodes.reached', found)];
  const meaning =
    'Workers that do not reach a node get its tasks by way of another one; where nodes do not reach each other, ' +
    'tasks wait (ductor_queued_tasks, no_worker).';
  const remedy =
    'If workers or nodes run here: set DUCTOR_ADVERTISE_ADDRESS of that node to what reaches it, or open the way.';
  return [warn('nodes.reached', `no connection from here to ${missed.join(', ')}`, meaning, remedy)];
}
