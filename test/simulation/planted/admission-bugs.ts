/** Planted bugs of admission. */
import type { MadeDecision } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type { PlantedBug } from '../cast/engine.js';
import { withDecision, withTenants } from './gated.js';

/** Whoever is held for anybody of the family is not held again: the account is charged once for two steps. */
export const LENT_IN_FAMILY: PlantedBug = {
  name: 'lent_in_family',
  what: 'who is held for somebody of the family is not held again for another step of it',
  ports: (ports) =>
    withDecision(ports, (decided, usage) => {
      const { reservations } = decided;
      const lent = reservations.added.filter(({ tenantId, rootId, recipientId }) =>
        usage.reservations.families.some((family) => {
          const isFamily = family.tenantId === tenantId && family.rootId === rootId;
          return isFamily && family.held.some((each) => each.recipientId === recipientId);
        }),
      );
      if (lent.length === 0) return decided;
      const tenants = reservations.tenants.map((tenant) => ({
        ...tenant,
        accounts: tenant.accounts.map((change) => {
          const own = lent.filter(({ recipientId }) => recipientId === change.recipientId);
          const units = own.reduce((sum, each) => sum + each.units, 0);
          const { held, dailyAdmitted } = change.account;
          return {
            ...change,
            account: { ...change.account, held: held - units, dailyAdmitted: dailyAdmitted - units },
          };
        }),
      }));
      const added = reservations.added.filter((each) => !lent.includes(each));
      return { ...decided, reservations: { ...reservations, tenants, added } };
    }),
};

/** A decision whose record says of everybody that its limit was used up. */
function asFull(made: MadeDecision): MadeDecision {
  const hops = made.decision.hops.map((hop) => ({
    ...hop,
    attempts: hop.attempts.map((attempt) => {
      const { admission } = attempt;
      if (admission?.kind !== 'granted') return attempt;
      return {
        ...attempt,
        admission: { ...admission, usage: admission.usage.map((each) => ({ ...each, used: each.limit })) },
      };
    }),
  }));
  return { ...made, decision: { ...made.decision, hops } };
}

/** Whoever reads the record sees numbers by which it would have been decided otherwise. */
export const RECORDED_AFTERWARDS: PlantedBug = {
  name: 'recorded_afterwards',
  what: 'the record of a decision has the numbers that came of it, not those it was decided by',
  ports: (ports) => withTenants(ports, (tenant) => ({ ...tenant, made: tenant.made.map(asFull) })),
};

/** Whoever resets takes from workflows what they hold. */
export const RESET_TAKES_ALL: PlantedBug = {
  name: 'reset_takes_all',
  what: 'a reset of capacity zeroes what is held, too',
  ports: (ports) => ({
    ...ports,
    capacity: { reset: (tenantId) => ports.capacity.reset(tenantId, true) },
  }),
};
