/**
 * Planted bugs by which runs end as if all were well, with rows that fold and attempts that their workers made, and yet
 * come to something else than their definition says. Nothing but the comparison of outcomes finds them.
 */
import type { Plan, PlanEdge, PlanStep } from '../../../engine/src/workflow/machine/index.js';
import { template } from '../../../engine/src/workflow/testing/plan-builder.js';
import type { EnginePorts, PlantedBug } from '../cast/engine.js';

/** Engines execute other plans than those that were published. */
function withPlans(ports: EnginePorts, changed: (plan: Plan) => Plan): EnginePorts {
  const { plans } = ports;
  const known = new WeakMap<Plan, Plan>();
  const of = (plan: Plan | undefined): Plan | undefined => {
    if (plan === undefined) return undefined;
    const found = known.get(plan) ?? changed(plan);
    known.set(plan, found);
    return found;
  };
  return {
    ...ports,
    plans: {
      ...plans,
      peek: (tenantId, familySlug, version) => of(plans.peek(tenantId, familySlug, version)),
      load: async (tenantId, familySlug, version) => of(await plans.load(tenantId, familySlug, version)),
    },
  };
}

/** The last two steps that nothing follows, each with the output of the other. */
function swapped(plan: Plan): Plan {
  const last = plan.steps.filter(({ outgoing, compensates }) => outgoing.length === 0 && compensates === null);
  const [one, other] = last.slice(-2);
  if (plan.output !== null || one === undefined || other === undefined) return plan;
  const output = template(({ stepOutput }) => {
    const all = last.map(({ ref }): [string, unknown] => {
      const from = ref === one.ref ? other.ref : ref === other.ref ? one.ref : ref;
      return [ref, stepOutput(from)];
    });
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  });
  return { ...plan, output };
}

export const OUTPUTS_SWAPPED: PlantedBug = {
  name: 'outputs_swapped',
  what: 'two branches of a run stand in its output under the name of the other',
  ports: (ports) => withPlans(ports, swapped),
};

function always(edge: PlanEdge): PlanEdge {
  return { ...edge, condition: null };
}

/** Chains end by a condition: without it a world would never end. */
function unconditional(plan: Plan): Plan {
  if (plan.steps.some(({ type }) => type === 'CONTINUE_AS_NEW')) return plan;
  const steps = plan.steps.map((step): PlanStep => {
    return { ...step, incoming: step.incoming.map(always), outgoing: step.outgoing.map(always) };
  });
  const stepByRef = new Map([...plan.stepByRef, ...steps.map((step): [string, PlanStep] => [step.ref, step])]);
  return { ...plan, steps, stepByRef };
}

export const CONDITIONS_FORGOTTEN: PlantedBug = {
  name: 'conditions_forgotten',
  what: 'edges lead on whether or not their condition holds',
  ports: (ports) => withPlans(ports, unconditional),
};
