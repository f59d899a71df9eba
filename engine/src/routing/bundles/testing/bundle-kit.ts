/** Bundles on a real database, and random ones. */
import fc from 'fast-check';
import { createCelCompiler } from '../../../expressions/index.js';
import { systemClock, systemRandom, uuidV7 } from '../../../kernel/index.js';
import type { Caller } from '../../../pools/index.js';
import type { Queryable, TenantAccess } from '../../../store/index.js';
import { createDirectory, type Directory } from '../../directory.js';
import type { Bundle, JsonObject, PrunedKind } from '../bundle.js';

/** A tenant that changes its topology. */
export interface BundleKit {
  readonly directory: Directory;
  readonly caller: Caller;
  readonly tenantId: string;
  /** What was told of changes: ids of pools, and "rules". */
  readonly told: string[];
  /** Statements that ran so far. */
  statements(): number;
}

/** A tenant of its own on a database. */
export function bundleKit(db: TenantAccess): BundleKit {
  const [clock, random] = [systemClock(), systemRandom()];
  const newId = (): string => uuidV7(clock.nowUs(), random);
  const tenantId = newId();
  const told: string[] = [];
  let count = 0;
  const counting = (queryable: Queryable): Queryable => ({
    query: (statement, values) => {
      count += 1;
      return queryable.query(statement, values);
    },
  });
  const counted: TenantAccess = {
    asTenant(id) {
      const access = db.asTenant(id);
      return { ...counting(access), transaction: (work) => access.transaction((tx) => work(counting(tx))) };
    },
  };
  const directory = createDirectory({
    ...{ db: counted, cel: createCelCompiler(), newId },
    onChange: (_tenant, poolIds) => void told.push(...poolIds),
    onRulesChange: () => void told.push('rules'),
  });
  const by = { tenantId, principalId: newId(), name: 'tests', scopes: new Set<never>() };
  return { directory, tenantId, told, caller: { by, method: '/test/Apply' }, statements: () => count };
}

/** Everything may be deleted. */
export const ALL: ReadonlySet<PrunedKind> = new Set(['pools', 'recipients', 'rules', 'claim_queues']);

/** A bundle out of some objects. */
export function bundleOf(parts: Partial<Bundle>): Bundle {
  return { pools: [], recipients: [], rules: [], claim_queues: [], ...parts };
}

const POOLS = ['a', 'b', 'c', 'd'] as const;
const QUEUES = ['qa', 'qb'] as const;
const optional = <T>(key: string, values: fc.Arbitrary<T>): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    fc.constant({}),
    values.map((value) => ({ [key]: value })),
  );
const merged = (...parts: readonly fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> =>
  fc.tuple(...parts).map((all): JsonObject => Object.assign({}, ...all) as JsonObject);

function pools(): fc.Arbitrary<readonly JsonObject[]> {
  const target = fc.constantFrom(...POOLS);
  const config = merged(
    optional('default_timeout', fc.constantFrom('5s', '30s')),
    optional('slate_size', fc.integer({ min: 1, max: 3 })),
    optional('sla', fc.constantFrom({ resolve_within: '60s' }, { priority_boost_per_min: 2, start_event: 'routed' })),
    fc.oneof(
      fc.constant({}),
      target.map((name) => ({ fallback: { kind: 'overflow' }, overflow_pool_id: name })),
      target.map((name) => ({ fallback: [{ kind: 'catchall', target: name }, { kind: 'dead_letter' }] })),
      fc.constantFrom(...QUEUES).map((name) => ({ fallback: [{ kind: 'claim', target: name }] })),
    ),
    fc.oneof(
      fc.constant({}),
      fc.constantFrom(...QUEUES).map((name) => ({ routing_mode: 'claim', claim_queue_id: name })),
    ),
  );
  const rest = merged(
    optional('strategy', fc.constantFrom('random', 'least_loaded')),
    optional('metadata', fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2'), { maxKeys: 2 })),
    optional('config', config),
  );
  return fc
    .tuple(...POOLS.map((name) => rest.map((fields): JsonObject => ({ name, ...fields }))))
    .chain((all) => fc.constant(all));
}

function recipients(): fc.Arbitrary<readonly JsonObject[]> {
  const target = fc.constantFrom(...POOLS);
  const one = merged(
    fc.constantFrom('r1', 'r2', 'r3').map((name) => ({ name })),
    optional('external_id', fc.constantFrom('e1', 'e2', 'r1')),
    optional('pool_id', target),
    optional(
      'memberships',
      fc.uniqueArray(
        merged(
          target.map((name) => ({ pool_id: name })),
          optional('weight', fc.constantFrom(0, 2.5)),
        ),
        {
          selector: ({ pool_id }) => pool_id,
          maxLength: 3,
        },
      ),
    ),
    optional('capacity', fc.record({ max_concurrent: fc.integer({ min: 0, max: 3 }) })),
    optional('tags', fc.subarray(['u', 'v'])),
    optional('state', fc.constantFrom('RECIPIENT_STATE_AVAILABLE', 'RECIPIENT_STATE_BUSY')),
  );
  return fc.uniqueArray(one, {
    selector: ({ external_id: id, name }) => (id === undefined ? `name ${String(name)}` : `id ${String(id)}`),
    maxLength: 5,
  });
}

function rules(): fc.Arbitrary<readonly JsonObject[]> {
  const one = merged(
    fc.constantFrom('x', 'y', 'z').map((name) => ({ name })),
    fc.constantFrom(...POOLS).map((name) => ({ pool_id: name })),
    fc.constantFrom('true', 'routable.priority > 1.0').map((expr) => ({ expr })),
    optional('priority', fc.integer({ min: -1, max: 1 })),
    optional('stop', fc.boolean()),
  );
  return fc.uniqueArray(one, { selector: ({ name }) => name, maxLength: 3 });
}

function queues(): fc.Arbitrary<readonly JsonObject[]> {
  const rest = merged(
    optional('description', fc.constantFrom('d', 'e')),
    optional('metadata', fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2'), { maxKeys: 2 })),
  );
  return fc.tuple(...QUEUES.map((name) => rest.map((fields): JsonObject => ({ name, ...fields }))));
}

/**
 * Bundles whose objects name each other. All pools and claim queues are there, so that no name leads nowhere; those
 * without a use are taken out again.
 */
export function bundles(): fc.Arbitrary<Bundle> {
  const drop = fc.subarray<string>([...POOLS, ...QUEUES]);
  return fc.tuple(pools(), recipients(), rules(), queues(), drop).map(([all, people, conditions, waiting, dropped]) => {
    const used = JSON.stringify([all.map(({ config }) => config), people, conditions]);
    const isKept = ({ name }: JsonObject): boolean =>
      !dropped.some((each) => each === name) || used.includes(`:"${String(name)}"`);
    return {
      ...{ pools: all.filter(isKept), recipients: people, rules: conditions },
      claim_queues: waiting.filter(isKept),
    };
  });
}

/** What may be deleted, at random. */
export function prunes(): fc.Arbitrary<ReadonlySet<PrunedKind>> {
  return fc.subarray<PrunedKind>(['pools', 'recipients', 'rules', 'claim_queues']).map((kinds) => new Set(kinds));
}
