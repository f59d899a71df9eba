import { expect, it } from 'vitest';
import { decide } from '../pipeline/decide.js';
import { inputOf, recipientOf, rulesOf, snapshotOf } from '../testing/decision-kit.js';
import { idOf } from '../testing/strategy-kit.js';
import { explain } from './explain.js';

it('draws a decision as a funnel', () => {
  const recipients = [
    recipientOf(1, { state: 'RECIPIENT_STATE_PAUSED' }),
    recipientOf(2, { capacity: { max_concurrent: 1 } }),
    recipientOf(3, { attributes: { level: { number_value: 2 } } }),
    recipientOf(4, { attributes: { level: { number_value: 5 } } }),
    recipientOf(5),
  ];
  const config = { strategy_params: { expr: 'recipient.attributes.level' } };
  const snapshot = snapshotOf(500, { strategy: 'score', config }, recipients, { facts: { 2: { committed: 1 } } });
  const rules = rulesOf({ name: 'leads', expr: 'routable.type == "lead"', pool_id: idOf(500) });
  const explanation = explain(decide(inputOf([snapshot], { poolId: undefined, rules })));
  expect(explanation).toMatchObject({
    outcome: 'assigned',
    outcomeClass: 'success',
    rules: [{ name: 'leads', result: 'true' }],
    winners: [idOf(4)],
  });
  expect(explanation.hops[0]).toMatchObject({
    strategy: 'score',
    considered: 5,
    eligible: 3,
    dropped: [
      { verdict: 'state_not_available', count: 1, recipients: [{ name: 'r1', detail: 'RECIPIENT_STATE_PAUSED' }] },
      { verdict: 'at_concurrency', count: 1, recipients: [{ name: 'r2', detail: '1 of 1' }] },
      { verdict: 'score_error', count: 1, recipients: [{ name: 'r5' }] },
    ],
    ranking: [
      { name: 'r4', score: 5, isChosen: true },
      { name: 'r3', score: 2, isChosen: false },
    ],
    attempts: [{ slate: [idOf(4)], admission: 'granted' }],
  });
});
