/**
 * Endpoints of tenants: registered, listed, taken away.
 *
 * Invariants:
 * 1. What was done stands in the audit trail when, and only when, it happened: both are one transaction.
 * 2. A tenant has at most MAX_ENDPOINTS.
 * 3. A URL is stored only when the egress guard would let it be called now; it is checked again at each call.
 */
import { DuctorError } from '../../kernel/index.js';
import type { EgressGuard } from '../../egress/index.js';
import type { RegistrationOutcome, WorkflowRegistration } from '../../gen/ductor/v1/bridge.js';
import type { StrategyRegistration } from '../../gen/ductor/v1/strategy.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit, type Deed, type Principal } from '../../tenancy/index.js';
import type { RegisterDefinition } from '../ports.js';
import { registerAll } from '../session/register.js';
import { strategyProblems, workflowProblems } from '../wire/check-hello.js';
import { checkEndpoint, MAX_ENDPOINTS, type Endpoint, type EndpointSpec } from './endpoint.js';
import { countOtherEndpoints } from './sql/count-endpoints.js';
import { deleteEndpoint } from './sql/delete-endpoint.js';
import { findEndpoint, listEndpoints } from './sql/read-endpoints.js';
import { upsertEndpoint } from './sql/upsert-endpoint.js';

/** What a registration led to. */
export interface RegisteredEndpoint {
  readonly endpoint: Endpoint;
  /** One for each workflow, in their order. */
  readonly outcomes: readonly RegistrationOutcome[];
}

/** The endpoints of tenants. `method`: what was called, for the audit trail. */
export interface EndpointRegistry {
  /**
   * Publishes what is new, and makes the endpoint of this name or changes it. Throws invalid_argument, egress_refused,
   * limit_exceeded.
   */
  register(
    by: Principal,
    method: string,
    spec: EndpointSpec,
    workflows: readonly WorkflowRegistration[],
    strategies?: readonly StrategyRegistration[],
  ): Promise<RegisteredEndpoint>;
  /** Newest first, those before an id (null: from the newest), at most `limit`. */
  list(tenantId: string, beforeId: string | null, limit: number): Promise<readonly Endpoint[]>;
  /** Throws not_found. */
  get(tenantId: string, endpointId: string): Promise<Endpoint>;
  /** Takes it away; returns what it was. Throws not_found. */
  remove(by: Principal, method: string, endpointId: string): Promise<Endpoint>;
}

/** What it needs. */
export interface EndpointRegistryOptions {
  readonly db: TenantAccess;
  readonly newId: () => string;
  readonly register: RegisterDefinition;
  readonly guard: EgressGuard;
  /** Told after something changed. */
  readonly onChange: () => void;
}

/** A host that has no address yet may be stored: apps start in any order. */
async function checkUrl(guard: EgressGuard, url: string): Promise<void> {
  try {
    await guard.check(url);
  } catch (error) {
    if (DuctorError.from(error).code !== 'host_unreachable') throw error;
  }
}

function checkServed(workflows: readonly WorkflowRegistration[], strategies: readonly StrategyRegistration[]): void {
  const details = [...workflowProblems(workflows), ...strategyProblems(strategies)];
  const [first] = details;
  if (first !== undefined) throw new DuctorError('invalid_argument', `${first.path}: ${first.problem}`, { details });
}

function unknown(endpointId: string): DuctorError {
  return new DuctorError('not_found', `there is no endpoint ${endpointId}`);
}

async function audit(tx: Queryable, by: Deed, tenantId: string, objectId: string): Promise<void> {
  await insertAudit(tx, [{ ...by, tenantId, objectKind: 'endpoint', objectId, outcome: 'ok' }]);
}

/** The endpoints in this database. */
export function createEndpointRegistry(options: EndpointRegistryOptions): EndpointRegistry {
  const { db, newId, register, guard, onChange } = options;
  return {
    async register(by, method, spec, registrations, strategies = []) {
      checkEndpoint(spec);
      checkServed(registrations, strategies);
      await checkUrl(guard, spec.url);
      const { tenantId } = by;
      const { outcomes, workflows } = await registerAll(register, by, method, registrations);
      const isSaid = registrations.length + strategies.length > 0;
      const served = isSaid ? { workflows, strategies } : { workflows: null, strategies: null };
      const endpoint = await db.asTenant(tenantId).transaction(async (tx) => {
        if ((await countOtherEndpoints(tx, tenantId, spec.name)) >= MAX_ENDPOINTS) {
          throw new DuctorError('limit_exceeded', `the tenant has ${MAX_ENDPOINTS} endpoints`);
        }
        const stored = await upsertEndpoint(tx, { ...spec, tenantId, endpointId: newId(), ...served });
        await audit(tx, deedOf(by, method), tenantId, stored.endpointId);
        return stored;
      });
      onChange();
      return { endpoint, outcomes };
    },
    list: (tenantId, beforeId, limit) => listEndpoints(db.asTenant(tenantId), tenantId, beforeId, limit),
    async get(tenantId, endpointId) {
      const found = await findEndpoint(db.asTenant(tenantId), tenantId, endpointId);
      if (found === undefined) throw unknown(endpointId);
      return found;
    },
    async remove(by, method, endpointId) {
      const { tenantId } = by;
      const removed = await db.asTenant(tenantId).transaction(async (tx) => {
        const was = await deleteEndpoint(tx, tenantId, endpointId);
        if (was === undefined) throw unknown(endpointId);
        await audit(tx, deedOf(by, method), tenantId, endpointId);
        return was;
      });
      onChange();
      return removed;
    },
  };
}
