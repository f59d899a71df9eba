/** Plans whose runs take seats and models: by themselves, with a child, and in a family that ends as nobody looks. */
import type { Plan } from '../../../engine/src/workflow/machine/index.js';
import { edge, planOf, template, type StepSpec } from '../../../engine/src/workflow/testing/plan-builder.js';
import { MODEL_POOL, SEAT_POOL } from './pools.js';

const SECOND_US = 1_000_000;

/** A turn of the family, by the seat that it has. */
const TURN: StepSpec = { type: 'ROUTE', pool: SEAT_POOL, isSeatOfFamily: true };
const WORK: StepSpec = { type: 'CALLBACK', timeoutMs: 20_000 };

function pause(seconds: number): StepSpec {
  return { type: 'WAIT', wakeAtUs: (_, nowUs) => nowUs + seconds * SECOND_US };
}

/** An attempt at a model, the first being attempt 0. */
function attempt(number: number): StepSpec {
  const routable = template(() => ({ attributes: { retry_attempt: number } }));
  return { type: 'ROUTE', pool: MODEL_POOL, isSeatOfFamily: true, routable };
}

/** Turns, a child that has turns of its own, and attempts that climb. */
export function seated(): Plan {
  const order = ['turn', 'work', 'again', 'child', 'first', 'second', 'held', 'third'];
  return planOf({
    steps: {
      ...{ turn: TURN, work: WORK, again: TURN, child: { type: 'SUB_WORKFLOW', familySlug: 'sitter' } },
      ...{ first: attempt(0), second: attempt(1), third: attempt(0) },
      held: { type: 'SELECT', pool: SEAT_POOL, slateSize: 2 },
    },
    edges: order.slice(1).map((ref, index) => edge(order[index] ?? '', ref, 'ALWAYS')),
  });
}

/** A child that keeps its family's seat for a while. */
export function sitter(): Plan {
  const order = ['sit', 'pause', 'work', 'stay', 'rest', 'last'];
  return planOf({
    steps: {
      ...{ sit: TURN, pause: pause(1), work: WORK, rest: pause(3), last: TURN },
      stay: { type: 'SELECT', pool: SEAT_POOL, slateSize: 1 },
    },
    edges: order.slice(1).map((ref, index) => edge(order[index] ?? '', ref, 'ALWAYS')),
  });
}

/** Has a child that takes a seat, and no step itself that could: the gate lane does not see its end. */
export function lobby(): Plan {
  return planOf({
    steps: { child: { type: 'SUB_WORKFLOW', familySlug: 'sitter' }, work: WORK },
    edges: [edge('child', 'work', 'ALWAYS')],
  });
}
