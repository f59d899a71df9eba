/**
 * Routing through the gRPC door of one node: previews one by one and in batches of 64, and decisions that are
 * committed and can be replayed, by a stateless score and by exact round robin in one pool. 12 recipients, 5 rules, one
 * CEL score.
 *
 * The node is a process of its own, the calls come from this one, over connections that cost it next to nothing
 * (grpc-caller.ts); the database is that of DUCTOR_TEST_DATABASE_URL (default: an embedded one). Rates are wall time
 * and fall with whatever else the machine does; `us` is the processor time that the node takes for a decision, which
 * hardly does.
 *
 * Run: npx tsx bench/route-lane.ts [seconds for each figure, default 4]
 */
import {
  PreviewRouteRequest,
  PreviewRoutesRequest,
  RouteRequest,
  RoutingServiceService as R,
} from '../engine/src/gen/ductor/v1/routing.js';
import { bearer, httpCall } from '../engine/src/api/testing/http-call.js';
import { GrpcCaller } from './grpc-caller.js';
import { serveNode, startNode, type ServedNode } from './serve-node.js';

const SECONDS = Number(process.argv[2] ?? 4);
const RECIPIENTS = 12;
const BATCH = 64;
const RULES = [
  'routable.type == "ticket"',
  'routable.channel == "chat" && routable.priority > 5.0',
  'routable.attributes.amount > 90000.0',
  '"vip" in routable.required_skills',
  'routable.type == "lead" && routable.attributes.amount >= 1000.0',
];
const SCORE =
  'recipient.attributes.seniority * 2.0 + recipient.weight + routable.attributes.amount / 10000.0 - load.used';

/** What the node says first. */
interface Hello {
  readonly address: string;
  readonly apiKey: string;
  readonly fsync: string;
}

function serve(): Promise<void> {
  return serveNode(async (node, db) => {
    const { apiKey } = await node.tenant('bench');
    const { rows } = await db.query<{ fsync: string }>('show fsync');
    return { apiKey, fsync: rows[0]?.fsync };
  });
}

async function post(address: string, apiKey: string, path: string, body: object): Promise<string> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const { status, json } = await httpCall(address, { method: 'POST', path, headers, body: JSON.stringify(body) });
  if (status !== 200) throw new RangeError(JSON.stringify(json));
  return (json as { data: { id: string } }).data.id;
}

/** A pool with its recipients. */
async function makePool(address: string, apiKey: string, pool: object): Promise<string> {
  const poolId = await post(address, apiKey, '/api/pools', pool);
  for (let index = 0; index < RECIPIENTS; index += 1) {
    await post(address, apiKey, `/api/pools/${poolId}/recipients`, {
      ...{ name: `Agent ${index}`, state: 'RECIPIENT_STATE_AVAILABLE', weight: 1 + (index % 4), tags: ['billing'] },
      attributes: { seniority: { number_value: index % 7 }, skill: { string_value: 'billing' } },
    });
  }
  return poolId;
}

/** The place in sorted times that so many of a hundred do not exceed. */
function percentile(sorted: readonly number[], share: number): string {
  return (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
}

/** Calls again and again, so many at once, and prints what came of it. */
async function measure(
  node: ServedNode<Hello>,
  name: string,
  { inFlight, each, call }: { inFlight: number; each: number; call: (number: number) => Promise<unknown> },
): Promise<void> {
  const drive = async (forMs: number): Promise<{ readonly times: number[]; readonly ms: number }> => {
    const [times, startMs]: [number[], number] = [[], performance.now()];
    let number = 0;
    const one = async (): Promise<void> => {
      while (performance.now() < startMs + forMs) {
        const beganMs = performance.now();
        await call((number += 1));
        times.push(performance.now() - beganMs);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, one));
    return { times, ms: performance.now() - startMs };
  };
  await drive(SECONDS * 300);
  const before = (await node.usage()).cpuUs;
  const { times, ms } = await drive(SECONDS * 1000);
  const us = ((await node.usage()).cpuUs - before) / (times.length * each);
  times.sort((a, b) => a - b);
  const rate = Math.round((times.length * each * 1000) / ms).toString();
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  console.log(`${name.padEnd(44)} ${rate.padStart(7)} /s   p50 ${p50} ms   p99 ${p99} ms   ${us.toFixed(0)} us`);
}

const routableOf = (number: number) => ({
  ...{ id: `lead-${number}`, type: 'lead', priority: number % 9 },
  attributes: { amount: 1000 + ((number * 997) % 80_000), state: 'TX' },
});

/** 64 requests, encoded beforehand. */
function requests(make: (number: number) => Uint8Array): (number: number) => Uint8Array {
  const made = Array.from({ length: 64 }, (_, number) => make(number));
  return (number) => made[number % made.length] ?? new Uint8Array();
}

async function measureAll(node: ServedNode<Hello>): Promise<void> {
  const { address, apiKey } = node.hello;
  // A node takes 100 calls at once on a connection.
  const headers = { authorization: `Bearer ${apiKey}` };
  const callers = await Promise.all([1, 2].map(() => GrpcCaller.open(address, headers)));
  const call = async (path: string, number: number, bytes: Uint8Array): Promise<void> =>
    callers[number % callers.length]?.call(path, bytes);
  const score = { strategy: 'score', config: { strategy_params: { expr: SCORE } } };
  const scored = await makePool(address, apiKey, { name: 'scored', ...score });
  const turns = await makePool(address, apiKey, { name: 'turns', strategy: 'round_robin' });
  for (const [priority, expr] of RULES.entries()) {
    await post(address, apiKey, '/api/rules', { name: `rule-${priority}`, priority, expr, pool_id: scored });
  }
  const preview = requests((number) =>
    PreviewRouteRequest.encode(PreviewRouteRequest.fromPartial({ routable: routableOf(number) })).finish(),
  );
  const items = Array.from({ length: BATCH }, (_, number) => ({ routable: routableOf(number) }));
  const previews = PreviewRoutesRequest.encode(PreviewRoutesRequest.fromPartial({ items })).finish();
  const route = requests((number) =>
    RouteRequest.encode(RouteRequest.fromPartial({ routable: routableOf(number) })).finish(),
  );
  const inTurn = requests((number) =>
    RouteRequest.encode(RouteRequest.fromPartial({ poolId: turns, routable: routableOf(number) })).finish(),
  );
  await measure(node, 'preview, unary, 64 in flight', {
    ...{ inFlight: 64, each: 1, call: (number) => call(R.previewRoute.path, number, preview(number)) },
  });
  await measure(node, `preview, batches of ${BATCH}, 8 in flight`, {
    ...{ inFlight: 8, each: BATCH, call: (number) => call(R.previewRoutes.path, number, previews) },
  });
  await measure(node, 'route, committed, score, 128 in flight', {
    ...{ inFlight: 128, each: 1, call: (number) => call(R.route.path, number, route(number)) },
  });
  await measure(node, 'route, committed, round robin, 128 in flight', {
    ...{ inFlight: 128, each: 1, call: (number) => call(R.route.path, number, inTurn(number)) },
  });
  for (const caller of callers) caller.close();
}

if (process.argv[2] === 'serve') await serve();
else {
  const node = await startNode<Hello>(import.meta.url);
  console.log(`fsync ${node.hello.fsync}`);
  await measureAll(node).finally(() => node.end());
}
