/** A whole node on a real Postgres whose tenant has pools, and workflows that select from them. */
import { startTestNode, type TestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { until } from './wait.js';

const CLOSED = /^RUN_STATE_(COMPLETED|FAILED|CANCELLED|CONTINUED|TERMINATED|TIMED_OUT)$/;

/** A run as it is shown. */
export interface Run {
  readonly id: string;
  readonly state: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly steps: readonly {
    readonly path: string;
    readonly state: string;
    readonly error?: { readonly code: string; readonly message: string };
  }[];
}

type Counters = Readonly<Record<'held' | 'daily_admitted' | 'current', number>>;
/** A pool with its recipients. */
export interface MarketPool {
  readonly name: string;
  readonly id: string;
  readonly ids: readonly string[];
  counters(): Promise<readonly Counters[]>;
  held(): Promise<readonly number[]>;
}

type Edge = readonly [source: string, target: string, condition?: string | undefined, type?: string];

/** Why a run failed. */
export const codeOf = ({ error }: Run): string | undefined => error?.code;

/** A step that selects from a pool. */
export const select = (pool: string, args: object = {}): object => ({
  ref: 'buyers',
  type: 'STEP_TYPE_SELECT',
  args: { pool, ...args },
});

/** A step that waits for the signal of its name. */
export const signal = (ref = 'done'): object => ({ ref, type: 'STEP_TYPE_SIGNAL', args: { name: ref } });

type Options = Parameters<typeof startTestNode>[1];
type Database = Parameters<typeof startTestNode>[0];

/** Starts the node. */
export async function marketNode(db: Database, options?: Options): Promise<MarketNode> {
  const node = await startTestNode(db, options);
  const { apiKey, tenantId } = await node.tenant('market');
  return new MarketNode(node, apiKey, tenantId, () => startTestNode(db, options));
}

/** See above. */
export class MarketNode {
  #made = 0;

  constructor(
    private node: TestNode,
    readonly apiKey: string,
    readonly tenantId: string,
    readonly again: () => Promise<TestNode>,
  ) {}

  get connection(): { readonly engine: string; readonly apiKey: string } {
    return { engine: this.node.address, apiKey: this.apiKey };
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { ...bearer(this.apiKey), 'content-type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, json } = await httpCall(this.node.address, { method, path, headers, ...text });
    if (status !== 200) throw new RangeError(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return (json as { data: T }).data;
  }

  /** A pool of its own for each test, with recipients of these capacities. */
  async poolOf(capacities: readonly object[], config: object = {}, strategy = 'least_loaded'): Promise<MarketPool> {
    this.#made += 1;
    const name = `pool-${this.#made}`;
    const { id } = await this.call<{ id: string }>('POST', '/api/pools', { name, strategy, config });
    const ids: string[] = [];
    for (const [index, capacity] of capacities.entries()) {
      const fields = { name: `${name}-r${index}`, state: 'RECIPIENT_STATE_AVAILABLE', capacity, order: index };
      ids.push((await this.call<{ id: string }>('POST', `/api/pools/${id}/recipients`, fields)).id);
    }
    const counters = async (): Promise<readonly Counters[]> => {
      const found = ids.map((each) => this.call<{ capacity: Counters }>('GET', `/api/recipients/${each}`));
      return (await Promise.all(found)).map(({ capacity }) => capacity);
    };
    const held = async (): Promise<readonly number[]> => (await counters()).map((each) => each.held);
    return { name, id, ids, counters, held };
  }

  /** Publishes a workflow; its slug. Edges are of success unless they say otherwise. */
  async publish(steps: readonly object[], edges: readonly Edge[] = [], more: object = {}): Promise<string> {
    this.#made += 1;
    const slug = `flow-${this.#made}`;
    const definition = {
      ...{ family_slug: slug, steps, ...more },
      edges: edges.map(([source_ref, target_ref, condition, type = 'SUCCESS']) => {
        const plain = { source_ref, target_ref, type: `EDGE_TYPE_${type}` };
        return condition === undefined ? plain : { ...plain, condition };
      }),
    };
    await this.node.registry.register(this.tenantId, definition);
    return slug;
  }

  get(id: string): Promise<Run> {
    return this.call('GET', `/api/runs/${id}`);
  }

  say(id: string, name = 'done'): Promise<unknown> {
    return this.call('POST', `/api/runs/${id}:signal`, { name });
  }

  /** Starts a run and waits until it rests: closed, or at a step that waits. */
  async start(slug: string, input: unknown = {}): Promise<Run> {
    const { id } = await this.call<Run>('POST', `/api/workflows/${slug}:trigger`, { input });
    return until(`run ${id} to rest`, async () => {
      const run = await this.get(id);
      return CLOSED.test(run.state) || run.state === 'RUN_STATE_WAITING' ? run : undefined;
    });
  }

  ended(id: string): Promise<Run> {
    return until(`run ${id} to end`, async () => {
      const run = await this.get(id);
      return CLOSED.test(run.state) ? run : undefined;
    });
  }

  /** Waits until recipients hold so much. */
  holding(pool: Pick<MarketPool, 'held'>, wanted: readonly number[]): Promise<true> {
    return until(`${JSON.stringify(wanted)} to be held`, async () =>
      JSON.stringify(await pool.held()) === JSON.stringify(wanted) ? true : undefined,
    );
  }

  async restart(): Promise<void> {
    await this.node.stop();
    this.node = await this.again();
  }

  stop(): Promise<void> {
    return this.node.stop();
  }
}
