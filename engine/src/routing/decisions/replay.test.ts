import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { cases } from '../../kernel/testing/test-length.js';
import type { StrategyName } from '../../pools/index.js';
import { decide } from '../pipeline/decide.js';
import { inputOf, randomDecisions, recipientOf, snapshotOf } from '../testing/decision-kit.js';
import { NOW_US } from '../testing/strategy-kit.js';
import { createRecordReader } from './read-input.js';
import { replay, replayExported } from './replay.js';
import { documentsOf, writeRecord } from './write-record.js';

const ENGINE = { version: '1.2.3', tzdb: '2026a' };
/** Of 40 decisions each. */
const BATCHES = cases(50, 250);

describe('records', () => {
  it(`of ${BATCHES * 40} decisions of all strategies and outcomes replay byte for byte`, () => {
    const reader = createRecordReader();
    const outcomes = new Map<string, number>();
    const documents = new Map<string, unknown>();
    let replayed = 0;
    for (const input of randomDecisions(BATCHES, 40)) {
      const decision = decide(input);
      const record = writeRecord(decision, ENGINE);
      for (const [digest, document] of documentsOf(decision))
        documents.set(digest, JSON.parse(JSON.stringify(document)));
      const { isSame, record: again, decision: replayedDecision } = replay(record, documents, reader);
      if (!isSame) expect(again).toBe(record);
      expect(replayedDecision.changes).toEqual(decision.changes);
      outcomes.set(decision.outcome, (outcomes.get(decision.outcome) ?? 0) + 1);
      replayed += 1;
    }
    expect(replayed).toBe(BATCHES * 40);
    for (const outcome of [
      'assigned',
      'offered',
      'queued',
      'queued_for_claim',
      'deferred',
      'no_eligible_recipient',
      'recipient_capacity_exhausted',
      'capacity_authority_unavailable',
      'pool_disabled',
      'pool_closed',
      'no_matching_rule',
      'duplicate',
      'dead_lettered',
      'rejected',
      'max_depth_exceeded',
    ]) {
      expect([outcome, outcomes.get(outcome) ?? 0]).not.toEqual([outcome, 0]);
    }
  }, 120_000);

  it('replay from an exported file, with nothing else', () => {
    const [input] = randomDecisions(1, 1);
    if (input === undefined) throw new TypeError('none');
    const decision = decide(input);
    const file = JSON.stringify({
      record: writeRecord(decision, ENGINE),
      documents: Object.fromEntries(documentsOf(decision)),
    });
    expect(replayExported(JSON.parse(file)).isSame).toBe(true);
  });

  const STRATEGIES: readonly StrategyName[] = [
    'round_robin',
    'smooth_weighted_round_robin',
    'fair_share',
    'latency_ewma',
    'success_rate_thompson',
    'sla_deadline',
  ];
  it.each([
    ...STRATEGIES.map((strategy) => ({ strategy })),
    {
      strategy: 'score',
      config: { strategy_params: { expr: 'recipient.attributes.seniority * 2.0 + recipient.weight - load.used' } },
    },
  ])('of 12 candidates take at most 2.5 KB: $strategy', (fields) => {
    const recipients = Array.from({ length: 12 }, (_, index) =>
      recipientOf(index + 1, {
        weight: 1 + index / 8,
        capacity: { max_concurrent: 5 + index, daily_limit: 40 + index },
        cost_micros: String(1_234_567 + index),
        currency: 'EUR',
        attributes: { seniority: { number_value: index }, skill: { string_value: 'billing' } },
      }),
    );
    const facts = Object.fromEntries(
      recipients.map((_, index) => [
        index + 1,
        {
          held: index % 3,
          committed: index % 4,
          admittedToday: index,
          committedToday: index + 1,
          lastAssignedUs: NOW_US - 7_654_321_987 - index,
          inRotationSinceUs: NOW_US - 86_400_123_456 - index,
          latencyUs: 345_678 + index,
          latencyAtUs: NOW_US - 1_234_567 - index,
          successMilli: 54_321 + index,
          failureMilli: 4321 + index,
          ratedAtUs: NOW_US - 9_876_543 - index,
        },
      ]),
    );
    const ids = recipients.map(({ id }) => id);
    const of = Object.fromEntries(ids.map((id, index) => [id, 1500 * index - 8000]));
    const snapshot = snapshotOf(500, fields, recipients, { facts, state: { root: { of, at: 'm2026-7' } } });
    const decision = decide(inputOf([snapshot]));
    const record = writeRecord(decision, ENGINE);
    expect(decision.outcome).toBe('assigned');
    expect(Buffer.byteLength(record)).toBeLessThanOrEqual(2560);
    expect(replay(record, documentsOf(decision)).isSame).toBe(true);
  });

  it('are refused when they are none, when a document is missing, and when one was changed', () => {
    const [input] = randomDecisions(1, 1);
    if (input === undefined) throw new TypeError('none');
    const decision = decide({ ...input, poolId: [...input.pools.keys()][0] });
    const record = writeRecord(decision, ENGINE);
    const documents = new Map(documentsOf(decision));
    const messageOf = (act: () => unknown): string => {
      try {
        act();
        return 'accepted';
      } catch (caught) {
        return DuctorError.from(caught).message;
      }
    };
    expect(messageOf(() => replay('{', documents))).toContain('no JSON');
    expect(messageOf(() => replay('{"schema":"x"}', documents))).toContain('not of the form');
    expect(messageOf(() => replay(record, new Map()))).toContain('is missing');
    const changed = new Map([...documents].map(([digest]) => [digest, { fields: { name: 'other' } }]));
    expect(messageOf(() => replay(record, changed))).toContain('was changed');
  });

  it('tell when a decision was tampered with', () => {
    const recipients = [recipientOf(1), recipientOf(2)];
    const decision = decide(
      inputOf([snapshotOf(500, { strategy: 'least_loaded' }, recipients, { facts: { 1: { held: 3 } } })]),
    );
    const record = writeRecord(decision, ENGINE);
    const documents = documentsOf(decision);
    expect(replay(record.replace('"h":[3,0]', '"h":[0,3]'), documents).isSame).toBe(false);
    expect(replay(record, documents).isSame).toBe(true);
  });
});
