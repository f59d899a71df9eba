/** Two tenants with everything a method can name, and keys of every kind. */
import { ClaimServiceService, CreateClaimQueueRequest } from '../../../gen/ductor/v1/claim.js';
import { EndpointForm, EndpointServiceService, RegisterEndpointRequest } from '../../../gen/ductor/v1/endpoint.js';
import { CreatePoolRequest, PoolServiceService } from '../../../gen/ductor/v1/pool.js';
import { CreateRecipientRequest, RecipientServiceService, RecipientState } from '../../../gen/ductor/v1/recipient.js';
import { RouteRequest, RoutingServiceService } from '../../../gen/ductor/v1/routing.js';
import { CreateRuleRequest, RuleServiceService } from '../../../gen/ductor/v1/rule.js';
import { TriggerRunRequest, RunServiceService } from '../../../gen/ductor/v1/run.js';
import {
  CatchUpPolicy,
  CreateScheduleRequest,
  OverlapPolicy,
  ScheduleServiceService,
} from '../../../gen/ductor/v1/schedule.js';
import { seededRandom } from '../../../kernel/index.js';
import { newApiKey, SCOPES, type Scope } from '../../../tenancy/index.js';
import { call, testClient, type TestClient } from '../../grpc/testing/test-client.js';
import type { TestNode } from '../../grpc/testing/test-node.js';
import type { MatrixMethod } from './methods.js';
import { NOBODY, type Ids } from './requests.js';

/** Kinds of keys. other: of another tenant, for everything; lower: for everything but what the method needs. */
export const KEY_KINDS = [
  'none',
  'garbage',
  'bad checksum',
  'unknown',
  'expired',
  'revoked',
  'other',
  'lower',
  'own',
] as const;

/** A kind of key. */
export type KeyKind = (typeof KEY_KINDS)[number];

/** Whose ids a request names, as the tenant of the key `own` sees it; unheard: missing, and never asked for before. */
export type IdKind = 'own' | 'foreign' | 'missing' | 'unheard';

/** The world. */
export interface MatrixWorld {
  /** The key of a kind for a method; null: none. */
  key(kind: KeyKind, method: MatrixMethod): Promise<string | null>;
  /**
   * Ids of a kind. What a call may take away is made anew for it, for methods of the service that may do so: the run
   * that waits, endpoint, schedule, pool and recipient.
   *
   * @param method whose request they are for; absent: any, all is made
   */
  ids(kind: IdKind, method?: MatrixMethod): Promise<Ids>;
  close(): void;
}

interface Side {
  readonly tenantId: string;
  readonly client: TestClient;
  readonly ids: Pick<Ids, 'runId' | 'workflowId' | 'familySlug' | 'keyId'>;
}

const WAIT = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };

async function startRun(client: TestClient, familySlug: string): Promise<string> {
  const request = TriggerRunRequest.fromPartial({ familySlug });
  const { data } = await call(client, RunServiceService.triggerRun, request);
  return data?.id ?? '';
}

async function registerEndpoint(client: TestClient): Promise<string> {
  const form = EndpointForm.ENDPOINT_FORM_HTTP;
  const request = RegisterEndpointRequest.fromPartial({ name: 'named', form, url: 'https://1.1.1.1/callbacks' });
  const { data } = await call(client, EndpointServiceService.registerEndpoint, request);
  return data?.id ?? '';
}

let schedules = 0;

/** A schedule that comes once a year. */
async function makeSchedule(client: TestClient, familySlug: string): Promise<string> {
  const request = CreateScheduleRequest.fromPartial({
    ...{ slug: `yearly-${(schedules += 1)}`, familySlug, overlap: OverlapPolicy.OVERLAP_POLICY_ALLOW },
    times: { $case: 'cron', value: { expression: '0 0 1 1 *', timeZone: 'UTC' } },
    catchUp: { policy: CatchUpPolicy.CATCH_UP_POLICY_NONE },
  });
  const { data } = await call(client, ScheduleServiceService.createSchedule, request);
  return data?.id ?? '';
}

/** Ids of nothing that have not stood in a request before: what was decided about those says so in lists. */
function unheard(name: string): Ids {
  const number = (unheardOf += 1).toString(16).padStart(4, '0');
  const of = Object.entries({ ...NOBODY }).map(([kind, id]) => [
    kind,
    id.replace('7000-8000', `7${number.slice(1)}-8000`),
  ]);
  return { ...NOBODY, ...Object.fromEntries(of), familySlug: `waits-${name}-nobod` };
}

let unheardOf = 0;
let pools = 0;
let keys = 0;

async function makePool(client: TestClient): Promise<Pick<Ids, 'poolId' | 'recipientId'>> {
  const number = (pools += 1);
  const named = CreatePoolRequest.fromPartial({ name: `named-${number}`, config: { requiresAcceptance: true } });
  const poolId = (await call(client, PoolServiceService.createPool, named)).data?.id ?? '';
  const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
  const member = CreateRecipientRequest.fromPartial({ poolId, name: `member-${number}`, state });
  const { data } = await call(client, RecipientServiceService.createRecipient, member);
  return { poolId, recipientId: data?.id ?? '' };
}

async function makeOffer(client: TestClient): Promise<Pick<Ids, 'poolId' | 'decisionId' | 'assignmentId'>> {
  const { poolId } = await makePool(client);
  const { data } = await call(
    client,
    RoutingServiceService.route,
    RouteRequest.fromPartial({ poolId, routable: { id: 'lead-1' } }),
  );
  return { poolId, decisionId: data?.id ?? '', assignmentId: data?.assignmentIds[0] ?? '' };
}

async function makeClaim(client: TestClient): Promise<Pick<Ids, 'queueId' | 'itemId' | 'claimantId'>> {
  const number = (pools += 1);
  const created = CreateClaimQueueRequest.fromPartial({ name: `pond-${number}` });
  const queueId = (await call(client, ClaimServiceService.createClaimQueue, created)).data?.id ?? '';
  const config = { routingMode: 'claim', claimQueueId: queueId };
  const pool = CreatePoolRequest.fromPartial({ name: `claimed-${number}`, config });
  const poolId = (await call(client, PoolServiceService.createPool, pool)).data?.id ?? '';
  const state = RecipientState.RECIPIENT_STATE_AVAILABLE;
  const member = CreateRecipientRequest.fromPartial({ poolId, name: `claimant-${number}`, state });
  const claimantId = (await call(client, RecipientServiceService.createRecipient, member)).data?.id ?? '';
  const route = RouteRequest.fromPartial({ poolId, routable: { id: 'lead-1' } });
  const { data } = await call(client, RoutingServiceService.route, route);
  return { queueId, itemId: data?.claimItemId ?? '', claimantId };
}

/** Work that waits where nobody is. */
async function makeWaiting(client: TestClient): Promise<string> {
  const config = { fallback: { kind: 'queue' } };
  const pool = CreatePoolRequest.fromPartial({ name: `empty-${(pools += 1)}`, config });
  const poolId = (await call(client, PoolServiceService.createPool, pool)).data?.id ?? '';
  const route = RouteRequest.fromPartial({ poolId, routable: { id: 'lead-1' } });
  return (await call(client, RoutingServiceService.route, route)).data?.id ?? '';
}

async function makeRule(client: TestClient): Promise<string> {
  const request = CreateRuleRequest.fromPartial({ name: `named-${(pools += 1)}`, expr: 'true', action: 'drop' });
  return (await call(client, RuleServiceService.createRule, request)).data?.id ?? '';
}

async function sideOf(node: TestNode, slug: string): Promise<Side> {
  const { tenantId, apiKey } = await node.tenant(slug);
  const client = testClient(node.address, apiKey);
  const familySlug = `waits-${slug}`;
  const { id: workflowId } = await node.registry.create(tenantId, { family_slug: familySlug, steps: [WAIT] });
  await node.registry.publish(tenantId, workflowId, 0);
  const runId = await startRun(client, familySlug);
  await call(client, RunServiceService.cancelRun, { runId, reason: '' });
  const { keyId } = await node.tenancy.createKey({ tenantId, name: 'named', scopes: SCOPES });
  return { tenantId, client, ids: { runId, workflowId, familySlug, keyId } };
}

/** Makes the world on a node. `name` is part of the names of its tenants. */
export async function matrixWorld(node: TestNode, name: string): Promise<MatrixWorld> {
  const own = await sideOf(node, `${name}-own`);
  const other = await sideOf(node, `${name}-other`);
  const { tenancy } = node;
  const make = async (scopes: readonly Scope[], label: string, expiresInMs?: number): Promise<[string, string]> => {
    const key = { tenantId: own.tenantId, name: `${label} ${(keys += 1)}`, scopes };
    const { apiKey, keyId } = await tenancy.createKey(expiresInMs === undefined ? key : { ...key, expiresInMs });
    return [apiKey, keyId];
  };
  const made = new Map<string, Promise<string>>();
  const once = (scopes: readonly Scope[], label: string): Promise<string> => {
    const known = made.get(`${label} ${scopes.join()}`) ?? make(scopes, label).then(([apiKey]) => apiKey);
    made.set(`${label} ${scopes.join()}`, known);
    return known;
  };
  const [expired] = await make(SCOPES, 'expired', 1);
  const [revoked, revokedId] = await make(SCOPES, 'revoked');
  await tenancy.revokeKey(own.tenantId, revokedId);
  const { apiKey: others } = await tenancy.createKey({ tenantId: other.tenantId, name: 'other', scopes: SCOPES });
  const unknown = newApiKey(seededRandom(1));
  const typo = others.slice(0, -1) + (others.endsWith('A') ? 'B' : 'A');
  const fixed = { none: null, garbage: 'garbage', 'bad checksum': typo, unknown, expired, revoked, other: others };
  return {
    async key(kind, { scope, handsOn }) {
      if (kind === 'own') return once([scope, ...handsOn], kind);
      if (kind !== 'lower') return fixed[kind];
      return once(
        SCOPES.filter((one) => one !== scope),
        kind,
      );
    },
    async ids(kind, method) {
      // As long as the foreign one: lengths stand in binary answers.
      if (kind === 'missing') return { ...NOBODY, familySlug: `waits-${name}-nobod` };
      if (kind === 'unheard') return unheard(name);
      const { client, ids } = kind === 'own' ? own : other;
      const { familySlug } = ids;
      const isFor = (service: string): boolean => method?.name.includes(`.${service}/`) !== false;
      const isForPools = isFor('PoolService') || isFor('RecipientService');
      return {
        ...{ ...NOBODY, ...ids },
        openRunId: isFor('RunService') ? await startRun(client, familySlug) : NOBODY.openRunId,
        ...(isForPools ? await makePool(client) : {}),
        ...(isFor('RoutingService') || isFor('AssignmentService') ? await makeOffer(client) : {}),
        waitingId: isFor('RoutingService') ? await makeWaiting(client) : NOBODY.waitingId,
        ...(isFor('ClaimService') ? await makeClaim(client) : {}),
        ruleId: isFor('RuleService') ? await makeRule(client) : NOBODY.ruleId,
        scheduleId: isFor('ScheduleService') ? await makeSchedule(client, familySlug) : NOBODY.scheduleId,
        endpointId: isFor('EndpointService') ? await registerEndpoint(client) : NOBODY.endpointId,
      };
    },
    close() {
      own.client.close();
      other.client.close();
    },
  };
}
