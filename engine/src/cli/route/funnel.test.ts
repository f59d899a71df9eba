/** Pictures of decisions. */
import { describe, expect, it } from 'vitest';
import { DecisionExplanation, RoutingDecision } from '../../gen/ductor/v1/routing.js';
import { funnelText } from './funnel.js';

const PLAIN = { columns: () => 100, hasColour: false, isLive: false, isUnicode: false };

const explanation = DecisionExplanation.fromPartial({
  rules: [
    { name: 'spam', result: 'false' },
    { name: 'broken', result: 'no_such_key' },
    { name: 'leads', result: 'true' },
  ],
  hops: [
    {
      ...{ poolName: 'night', strategy: 'round_robin', considered: 2, eligible: 0, reason: 'no_eligible_recipient' },
      dropped: [{ verdict: 'rule_false', count: 2, recipients: [{ id: 'a', name: 'Ana' }] }],
      fallback: 'overflow',
    },
    {
      ...{ poolName: 'day', strategy: 'uniform_random', considered: 10, eligible: 8 },
      ...{ propensityNumerator: 1, propensityDenominator: 8, notes: ['panic'] },
      dropped: [
        { verdict: 'state_not_available', count: 1, recipients: [{ id: 'b', name: 'Ben', detail: 'OFFLINE' }] },
        { verdict: 'at_daily', count: 1, recipients: [{ id: 'c', name: '\u001b[2Jé' }] },
      ],
      ranking: [
        { id: 'd', name: 'Dora', load: 4, limit: 5, isChosen: true },
        { id: 'e', name: '', load: 7, limit: 0, isChosen: false },
      ],
      attempts: [
        { recipientIds: ['e'], admission: 'refused' },
        { recipientIds: ['d'], admission: 'granted' },
      ],
    },
  ],
});
const decision = RoutingDecision.fromPartial({
  ...{ id: 'D1', outcome: 'assigned', outcomeClass: 'success', routableId: 'lead-1', explanation },
  slate: [{ recipientId: 'd', units: 2 }],
});

describe('a funnel', () => {
  it('shows rules, each pool, whom verdicts took out, the ranking and the winner', () => {
    expect(funnelText(decision, PLAIN).replaceAll(/ +$/gm, '')).toBe(
      [
        'lead-1    D1',
        '. rule spam',
        'x rule broken: no_such_key',
        '+ rule leads',
        '        v',
        'night, by round_robin',
        `  ${'#'.repeat(40)}  2 in the pool`,
        `  ${'-'.repeat(40)}  0  -2 rule false  Ana, 1 more`,
        '  no eligible recipient',
        '  fallback: overflow',
        '        v',
        'day, by uniform_random',
        `  ${'#'.repeat(40)}  10 in the pool`,
        `  --${'#'.repeat(36)}--   9  -1 state not available  Ben (OFFLINE)`,
        `    --${'#'.repeat(32)}--     8  -1 at daily             \ufffd[2Jé`,
        '  ranking, chosen with a chance of 1 in 8',
        '  >  1  Dora  load 4 of 5  ########..',
        '     2  e     load 7',
        '  attempt 1: e: room refused',
        '  attempt 2: Dora: room granted',
        '  note: panic',
        '        v',
        '-> assigned: Dora (2 units)',
        '',
      ].join('\n'),
    );
  });

  it('cuts who was taken out where a person looks on, and paints', () => {
    const narrow = { columns: () => 80, hasColour: true, isLive: true, isUnicode: true };
    const text = funnelText(decision, narrow);
    expect(text).toContain('\u001b[32m→ assigned: Dora (2 units)\u001b[0m');
    expect(text).toContain('Ben (OF…');
    expect(text).toContain('\u001b[33m████████░░\u001b[0m');
  });

  it('says why nobody got it', () => {
    const none = RoutingDecision.fromPartial({
      outcome: 'pool_disabled',
      outcomeClass: 'refused',
      reason: 'kill_switch',
    });
    expect(funnelText(none, PLAIN)).toMatch(/^work .*\n {8}v\n-> pool_disabled: kill_switch\n$/);
  });
});
