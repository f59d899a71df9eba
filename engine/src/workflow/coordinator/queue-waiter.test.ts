import { expect, it } from 'vitest';
import { queuedStep, queueWaiterOf } from './queue-waiter.js';

it.each(['desk', 'leads[3].desk', 'a/b'])('names the step %s, whatever stands in its path', (path) => {
  const step = { runId: '01890a5d-ac96-774b-bcce-b302099a8058', path };
  expect(queuedStep(queueWaiterOf(step))).toEqual(step);
});
