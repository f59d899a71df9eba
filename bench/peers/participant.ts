/**
 * A process of the bench: worker, client or both of one engine. It does what the bench asks over IPC, one order after
 * the other, and ends with the bench.
 */
import { inspect } from 'node:util';
import { takeLateness } from './bodies.js';
import { closedLoop } from './closed-loop.js';
import { type LoopOrder, type Order, order, request } from './messages.js';
import type { PeerName } from './peer-names.js';
import { obeyProfileOrder } from './profiler.js';
import type { Side } from './side.js';

let side: Side | undefined;

/** The side of an engine; its packages are loaded only where they are needed. */
async function load(peer: PeerName): Promise<Side> {
  if (peer === 'dbos') return (await import('./dbos-side.js')).createSide();
  if (peer === 'restate') return (await import('./restate-side.js')).createSide();
  return (await import('./ductor-side.js')).createSide();
}

function loop(known: Side, { what, kind, n, ...limits }: LoopOrder): Promise<unknown> {
  return closedLoop(limits, (index) => (what === 'run' ? known.run(kind, n ?? index) : known.start(kind, n ?? index)));
}

async function obey(asked: Order): Promise<unknown> {
  if (asked.do === 'side') {
    side = await load(asked.peer);
    return undefined;
  }
  if (asked.do === 'profile-start' || asked.do === 'profile-stop') return obeyProfileOrder(asked);
  if (side === undefined) throw new Error('the first order must name the side');
  switch (asked.do) {
    case 'prepare':
      return side.prepare();
    case 'work':
      return side.work(asked.slots);
    case 'open':
      return side.open(asked.via);
    case 'loop':
      return loop(side, asked);
    case 'lateness':
      return takeLateness();
    case 'finished':
      return side.finished();
    case 'close':
      return side.close();
  }
}

process.on('message', (message) => {
  const { id, order: asked } = request.parse(message);
  obey(order.parse(asked)).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: inspect(error, { depth: 4 }) }),
  );
});
process.on('disconnect', () => process.exit(0));
