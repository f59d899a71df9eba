/** Plans for a seed: drawn at random, and a few that lead to branches random ones seldom reach. */
import fc from 'fast-check';
import type { Plan } from '../../../engine/src/workflow/machine/index.js';
import type { SemaphorePlan } from '../../../engine/src/workflow/machine/plan.js';
import {
  edge,
  ITEM,
  outputOf,
  planOf,
  RUN_INPUT,
  template,
} from '../../../engine/src/workflow/testing/plan-builder.js';
import { plansOver } from '../../../engine/src/workflow/testing/random-plan.js';
import type { Choices } from '../core/choices.js';
import { SECOND_POOL, SIMULATED_POOL } from './pools.js';

const SECOND_US = 1_000_000;

/** A chain with a wait that is longer than most horizons. */
function longWait(seconds: number): Plan {
  return planOf({
    steps: {
      a: { type: 'CALLBACK' },
      pause: { type: 'WAIT', wakeAtUs: (_, nowUs) => nowUs + seconds * SECOND_US },
      b: { type: 'CALLBACK', input: outputOf('a') },
    },
    edges: [edge('a', 'pause'), edge('pause', 'b')],
  });
}

/** Many steps side by side, then one that waits for all. */
function fan(width: number): Plan {
  const names = Array.from({ length: width }, (_, index) => `f${index}`);
  return planOf({
    steps: {
      ...Object.fromEntries(names.map((name) => [name, { type: 'CALLBACK' as const, timeoutMs: 20_000 }])),
      join: { type: 'CALLBACK', input: outputOf('f0') },
    },
    edges: names.map((name) => edge(name, 'join', 'ALWAYS')),
  });
}

/** Steps whose workers may be lost again and again. */
function stubborn(): Plan {
  return planOf({
    steps: {
      a: { type: 'CALLBACK', input: RUN_INPUT, timeoutMs: 120_000, retry: { maxAttempts: 6, initialIntervalMs: 100 } },
      b: { type: 'CALLBACK', input: outputOf('a'), timeoutMs: 1_500, retry: { maxAttempts: 20 } },
    },
    edges: [edge('a', 'b')],
  });
}

function fault(): never {
  throw new RangeError('drawn to throw');
}

/** A plan with faults of the engine's own kind in it: the run is parked, and what would undo it faults, too. */
function faulty(): Plan {
  const compensates = { sourceRef: 'a', condition: template(fault) };
  return planOf({
    steps: { a: { type: 'CALLBACK' }, b: { type: 'DATAFLOW', transform: fault }, u: { type: 'CALLBACK', compensates } },
    edges: [edge('a', 'b')],
  });
}

/** What steps of random plans start as children. */
function leaf(): Plan {
  return {
    ...planOf({ steps: { work: { type: 'CALLBACK', timeoutMs: 20_000 } }, output: outputOf('work') }),
    familySlug: 'leaf',
  };
}

/** A child that has a child, and work of its own. */
function branch(): Plan {
  const steps = {
    below: { type: 'SUB_WORKFLOW', familySlug: 'leaf' },
    own: { type: 'CALLBACK', timeoutMs: 20_000 },
  } as const;
  return { ...planOf({ steps }), familySlug: 'branch' };
}

/** Three generations, and work beside them. */
function tree(): Plan {
  return planOf({
    steps: {
      left: { type: 'SUB_WORKFLOW', familySlug: 'branch' },
      right: { type: 'SUB_WORKFLOW', familySlug: 'branch', version: 1, closePolicy: 'terminate' },
      own: { type: 'CALLBACK', timeoutMs: 20_000 },
    },
    onFailure: 'cancel',
  });
}

/** Waits for signals, one after the other; others may come while it ends. */
function mailbox(): Plan {
  const deadlineUs = (_: unknown, nowUs: number): number => nowUs + 30 * SECOND_US;
  const open = { assignees: ['ada'], options: ['yes', 'no'] };
  return planOf({
    steps: {
      first: { type: 'SIGNAL', signal: 'ping', deadlineUs },
      review: {
        ...{ type: 'APPROVAL', signal: 'review', deadlineUs },
        open: (_, nowUs) => ({ ...open, escalation: { atUs: nowUs + 5 * SECOND_US, assignees: ['bob'] } }),
      },
      work: { type: 'CALLBACK', timeoutMs: 20_000 },
      last: { type: 'SIGNAL', signal: 'ping', deadlineUs },
    },
    edges: [edge('first', 'work', 'ALWAYS'), edge('work', 'last', 'ALWAYS'), edge('review', 'last', 'ALWAYS')],
  });
}

/** Answers updates by bodies of its workers: one after the other, and in each turn of a loop. */
function desk(): Plan {
  return planOf({
    steps: {
      change: { type: 'CALLBACK', timeoutMs: 20_000, takes: 'change' },
      turns: {
        ...{ type: 'LOOP', until: ({ index }) => (index?.() ?? 0) >= 1, maxIterations: 3 },
        body: { steps: { add: { type: 'CALLBACK', timeoutMs: 20_000, takes: 'add' } } },
      },
    },
    edges: [edge('change', 'turns', 'ALWAYS')],
    updates: { change: { output: template((scope) => ({ for: scope.update?.() })) } },
  });
}

/** A run that asks again and again, each time as a run of its own, with a step beside that has to be stopped. */
function longPoll(): Plan {
  const turnOf = (input: unknown): number =>
    typeof input === 'object' && input !== null && 'turn' in input ? Number(input.turn) : 1;
  return planOf({
    steps: {
      ask: { type: 'CALLBACK', timeoutMs: 20_000 },
      pause: { type: 'WAIT', wakeAtUs: (_, nowUs) => nowUs + SECOND_US },
      beside: { type: 'CALLBACK', timeoutMs: 20_000 },
      again: { type: 'CONTINUE_AS_NEW', input: template((scope) => ({ turn: turnOf(scope.input()) + 1 })) },
    },
    edges: [edge('ask', 'pause', 'ALWAYS'), edge('pause', 'again', 'SUCCESS', (scope) => turnOf(scope.input()) < 4)],
  });
}

/** A key whatever the run. */
function room(key: string, limit: number): SemaphorePlan['concurrency'][number] {
  return { key: template(() => key), limit };
}

/** Steps that need room under keys which many runs share, and now and then a run that needs some as a whole. */
function crowd(isSerial: boolean): Plan {
  const work = { type: 'CALLBACK', timeoutMs: 20_000, retry: { maxAttempts: 4, initialIntervalMs: 100 } } as const;
  const rate = { key: template(() => 'api'), limit: 5, perUs: SECOND_US };
  return planOf({
    steps: {
      one: { ...work, semaphores: { concurrency: [room('x', 1)], rate: null } },
      two: { ...work, semaphores: { concurrency: [room('x', 2), room('y', 1)], rate: null } },
      three: { ...work, scheduleToStartTimeoutMs: 30_000, semaphores: { concurrency: [room('y', 2)], rate } },
    },
    semaphores: isSerial ? { concurrency: [room('customer', 2)], rate: null } : undefined,
    onFailure: 'cancel',
  });
}

/** Reserves recipients, one after the other has been given back, and works while it holds them. */
function buyers(): Plan {
  const open = { type: 'SELECT', pool: SIMULATED_POOL } as const;
  return planOf({
    steps: {
      ask: { ...open, slateSize: 1 },
      work: { type: 'CALLBACK', timeoutMs: 20_000, input: outputOf('ask') },
      hold: { type: 'WAIT', wakeAtUs: (_, nowUs) => nowUs + 2 * SECOND_US },
      more: { ...open, slateSize: 2, atLeast: 1 },
      last: { type: 'CALLBACK', timeoutMs: 20_000 },
    },
    edges: [edge('ask', 'work'), edge('work', 'hold', 'ALWAYS'), edge('hold', 'more'), edge('more', 'last', 'ALWAYS')],
    onFailure: 'cancel',
  });
}

/** Offers to the ranked ones until one takes it, then tells all of another slate, each by itself. */
function offers(): Plan {
  const post = { type: 'CALLBACK', timeoutMs: 20_000, input: ITEM, retry: { maxAttempts: 1 } } as const;
  const open = { type: 'SELECT', pool: SIMULATED_POOL } as const;
  return planOf({
    steps: {
      offer: { ...open, slateSize: 3, mode: 'ranked', body: { steps: { post } } },
      tell: { ...open, slateSize: 2, tolerated: 1, body: { steps: { note: post }, output: outputOf('note') } },
      child: { type: 'SUB_WORKFLOW', familySlug: 'leaf', isDetached: true },
      all: { ...open, slateSize: 2, atLeast: 2, mode: 'slate', body: { steps: { once: post } } },
      desk: { type: 'ROUTE', pool: SECOND_POOL, endsWithRun: true },
    },
    edges: [
      ...[edge('offer', 'tell', 'ALWAYS'), edge('offer', 'child', 'ALWAYS')],
      ...[edge('tell', 'all', 'ALWAYS'), edge('all', 'desk', 'ALWAYS')],
    ],
  });
}

const RANDOM_PLANS = plansOver([SIMULATED_POOL, SECOND_POOL]);

/** Plans of one family, and of the families that its runs start. */
export interface DrawnPlans {
  /** Those that are published when a world begins: versions from 1. */
  readonly plans: readonly Plan[];
  /** Later versions of the one family, to be published one after the other. */
  readonly coming: readonly Plan[];
}

/** Draws the plans of a seed. */
export function drawPlans(choices: Choices): DrawnPlans {
  const random = fc.sample(RANDOM_PLANS, { seed: choices.random.uint32() | 0, numRuns: choices.int(2, 4) });
  const drawn = [
    ...random,
    longWait(choices.oneOf(6, 25, 70)),
    fan(choices.int(2, 6)),
    stubborn(),
    tree(),
    mailbox(),
    desk(),
    longPoll(),
    crowd(false),
    crowd(true),
    buyers(),
    offers(),
  ];
  if (choices.chance(0.15)) drawn.push(faulty());
  // Which of them come late is a matter of chance.
  const shuffled = drawn.map((plan) => ({ plan, at: choices.unit() })).sort((a, b) => a.at - b.at);
  const versions = shuffled.map(({ plan }, index) => ({ ...plan, version: index + 1 }));
  const later = choices.int(1, 4);
  return { plans: [...versions.slice(0, -later), leaf(), branch()], coming: versions.slice(-later) };
}
