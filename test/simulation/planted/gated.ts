/** What planted bugs change of batches of the gate lane. */
import type { GateUsage, TenantChanges } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type { GateDecision, RunStore } from '../../../engine/src/workflow/coordinator/ports.js';
import type { EnginePorts } from '../cast/engine.js';

/** Changes what batches decide. */
export function withDecision(
  ports: EnginePorts,
  change: (decided: GateDecision, usage: GateUsage) => GateDecision,
): EnginePorts {
  const commitGated: RunStore['commitGated'] = (nodeId, locks, decide) =>
    ports.runs.commitGated(nodeId, locks, (usage) => change(decide(usage), usage));
  return { ...ports, runs: { ...ports.runs, commitGated } };
}

/** Changes what they write for each tenant. */
export function withTenants(ports: EnginePorts, change: (tenant: TenantChanges) => TenantChanges): EnginePorts {
  return withDecision(ports, (decided) => {
    const { reservations } = decided;
    return { ...decided, reservations: { ...reservations, tenants: reservations.tenants.map(change) } };
  });
}
