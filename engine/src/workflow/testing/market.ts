/** A node whose runs select from a pool of recipients, on stores in memory. */
import { expect } from 'vitest';
import { recipientOf, snapshotOf } from '../../routing/testing/decision-kit.js';
import { jsonOfValue, jsonValue } from '../machine/index.js';
import { CoordinatorKit, TENANT } from './coordinator-kit.js';
import { planOf, type PlanSpec } from './plan-builder.js';

/** Its worker. */
export const WORKER = 'worker-1';

/** A node with a worker, plans p0, p1 and so on, and a pool of recipients with these capacities. */
export async function market(specs: readonly PlanSpec[], capacities: readonly object[]) {
  const kit = new CoordinatorKit({ plans: specs.map((spec, index) => ({ ...planOf(spec), familySlug: `p${index}` })) });
  const recipients = capacities.map((capacity, index) => recipientOf(index + 1, { type: 'buyer', capacity }));
  const { view } = snapshotOf(900, { name: 'buyers', strategy: 'least_loaded' }, recipients);
  kit.db.reservations.add({ tenantId: TENANT, name: 'buyers', view });
  const node = kit.node();
  await kit.pass(3_000, 250);
  node.coordinator.workerConnected(WORKER, []);
  const ids = recipients.map(({ id }) => id);
  const account = (id: string) => kit.db.reservations.accounts.get(id);
  return {
    ...{ kit, node, ids },
    held: (): readonly number[] => ids.map((id) => account(id)?.held ?? -1),
    today: (): readonly number[] => ids.map((id) => account(id)?.dailyAdmitted ?? -1),
    async start(slug = 'p0', input: unknown = {}): Promise<string> {
      const started = node.coordinator.start(kit.request({ familySlug: slug, input: jsonValue(input) }));
      await kit.pass(200, 50);
      return (await started).runId;
    },
    async answer() {
      kit.settle(node, kit.take(node, WORKER));
      await kit.pass(400, 50);
    },
    status: (runId: string) => kit.stored(runId)?.status,
    error: (runId: string) => kit.stored(runId)?.error?.code,
    output(runId: string, path: string): unknown {
      const output = kit.stored(runId)?.steps.get(path)?.output ?? null;
      return output === null ? null : jsonOfValue(output)?.json;
    },
    check(): void {
      expect(kit.db.violations).toEqual([]);
      expect(kit.db.reservations.violations).toEqual([]);
    },
  };
}
