/** Plans of wide worlds: random ones in which more of the language is drawn, in families of their own. */
import fc from 'fast-check';
import type { Plan } from '../../../engine/src/workflow/machine/index.js';
import { edge, planOf, template } from '../../../engine/src/workflow/testing/plan-builder.js';
import { plansOver } from '../../../engine/src/workflow/testing/random-plan.js';
import type { Choices } from '../core/choices.js';
import { BENCH, POND, SECOND_POOL, SIMULATED_POOL } from './pools.js';
import { lobby, seated, sitter } from './seat-plans.js';
import { widened } from './widen.js';

const WORK = template(() => ({ type: 'lead' }));
const RANDOM_PLANS = plansOver([SIMULATED_POOL, SECOND_POOL]);

function random(choices: Choices, count: number): readonly Plan[] {
  return fc.sample(RANDOM_PLANS, { seed: choices.random.uint32() | 0, numRuns: count });
}

/** Work that is claimed, then work that has to be done, and what follows both. */
function pond(): Plan {
  const lead = {
    type: 'CLAIM',
    until: 'claimed',
    deadlineUs: (_: unknown, nowUs: number) => nowUs + 9_000_000,
  } as const;
  const deal = { type: 'CLAIM', until: 'completed', deadlineUs: () => null } as const;
  const plan = planOf({
    steps: { lead, deal, beside: lead, work: { type: 'CALLBACK', timeoutMs: 20_000 } },
    edges: [edge('lead', 'deal', 'ALWAYS'), edge('deal', 'work', 'ALWAYS')],
  });
  const steps = plan.steps.map((one) => (one.type === 'CLAIM' ? { ...one, pool: POND, routable: WORK } : one));
  return { ...plan, steps, stepByRef: new Map(steps.map((one) => [one.ref, one])) };
}

/** Work that waits until somebody is free, for so long, for ever, and as long as the run. */
function bench(): Plan {
  const desk = { type: 'ROUTE', pool: BENCH } as const;
  const seat = { ...desk, isSeatOfFamily: true };
  const until = (us: number) => (_: unknown, nowUs: number) => nowUs + us;
  return planOf({
    steps: {
      ...{ one: desk, two: { ...seat, endsWithRun: true }, three: { ...seat, deadlineUs: until(4_000_000) } },
      ...{ four: { ...seat, deadlineUs: until(800_000) }, work: { type: 'CALLBACK', timeoutMs: 20_000 } },
    },
    edges: [edge('one', 'work', 'ALWAYS'), edge('two', 'four', 'ALWAYS')],
  });
}

function family(familySlug: string, plans: readonly Plan[]): readonly Plan[] {
  return plans.map((plan, index) => ({ ...plan, familySlug, version: index + 1 }));
}

/**
 * The plans that a wide world has beside the others. Runs of `wide` start all others, runs of `twig` those that start
 * none.
 */
export function drawWidePlans(choices: Choices): readonly Plan[] {
  const twigs = random(choices, 2).map((plan) => widened(plan, { choices, children: ['leaf'], isRoot: false }));
  const children = ['leaf', 'branch', 'twig', 'twig'];
  const wide = random(choices, choices.int(3, 6)).map((plan) => widened(plan, { choices, children, isRoot: true }));
  const seats = [seated(), seated(), lobby()];
  return [
    ...family('twig', twigs),
    ...family('sitter', [sitter()]),
    ...family('wide', [...wide, pond(), pond(), ...seats, bench()]),
  ];
}
