/** Queues in decisions: when work may wait, when it may not, and that the record says so. */
import { describe, expect, it } from 'vitest';
import { explain } from '../decisions/explain.js';
import { replay } from '../decisions/replay.js';
import { documentsOf, writeRecord } from '../decisions/write-record.js';
import { inputOf, recipientOf, rulesOf, snapshotOf } from '../testing/decision-kit.js';
import { idOf, NOW_US } from '../testing/strategy-kit.js';
import { decide } from './decide.js';
import type { Decision, DecisionInput } from './decision.js';

const DAY_US = 86_400_000_000;
const NOBODY = [recipientOf(1, { state: 'RECIPIENT_STATE_OFFLINE' })];
const QUEUE = { fallback: { kind: 'queue' } };

const poolOf = (config: object, queued = 0) => snapshotOf(500, { config: { ...QUEUE, ...config } }, NOBODY, { queued });

/** The decision; its record must replay to the same bytes. */
function decided(input: DecisionInput): Decision {
  const decision = decide(input);
  const record = writeRecord(decision, { version: '1', tzdb: '2026a' });
  const documents = [...documentsOf(decision)].map(([digest, each]): [string, unknown] => [
    digest,
    JSON.parse(JSON.stringify(each)),
  ]);
  expect(replay(record, new Map(documents)).record).toBe(record);
  return decision;
}

describe('work that finds nobody', () => {
  it('waits for as long as the pool says, or its fallback', () => {
    const until = (config: object) => decided(inputOf([poolOf(config)])).waitsUntilUs;
    expect(until({})).toBe(NOW_US + DAY_US);
    expect(until({ queue: { ttl: '60s' } })).toBe(NOW_US + 60_000_000);
    expect(until({ queue: { ttl: '60s' }, fallback: [{ kind: 'queue', ttl: '5s' }] })).toBe(NOW_US + 5_000_000);
  });

  it('waits no longer than that over all queues', () => {
    const ended = (sinceUs: number, config: object = {}) =>
      decided(inputOf([poolOf(config)], { waited: { firstId: idOf(98), sinceUs, queueOf: idOf(500) } }));
    expect(ended(NOW_US - DAY_US + 1)).toMatchObject({ outcome: 'queued', waitsUntilUs: NOW_US + 1 });
    expect(ended(NOW_US - DAY_US)).toMatchObject({ outcome: 'dead_lettered', reason: 'queue_expired' });
    const next = { fallback: [{ kind: 'queue' }, { kind: 'retry', delay: '30s' }] };
    expect(ended(NOW_US - DAY_US, next)).toMatchObject({ outcome: 'deferred', reason: 'no_eligible_recipient' });
    expect(explain(ended(NOW_US - DAY_US, next)).hops[0]?.fallback).toBe('queue_expired, retry');
  });

  it('finds a full queue full, unless it is in it', () => {
    const full = poolOf({ queue: { max_depth: 3 } }, 3);
    expect(decided(inputOf([poolOf({ queue: { max_depth: 3 } }, 2)]))).toMatchObject({ outcome: 'queued' });
    expect(decided(inputOf([full]))).toMatchObject({ outcome: 'max_depth_exceeded', reason: 'queue_full' });
    const waited = { firstId: idOf(98), sinceUs: NOW_US - 1 };
    expect(decided(inputOf([full], { waited }))).toMatchObject({ outcome: 'max_depth_exceeded' });
    expect(decided(inputOf([full], { waited: { ...waited, queueOf: idOf(500) } })).outcome).toBe('queued');
  });

  it('is offered to whoever else comes while it waits', () => {
    const config = { requires_acceptance: true, max_offers: 2 };
    const pool = snapshotOf(500, { config: { ...QUEUE, ...config } }, [recipientOf(1), recipientOf(2)]);
    const asked = { offers: 2, excluded: new Set([idOf(1)]) };
    expect(decided(inputOf([pool], asked))).toMatchObject({ outcome: 'queued', reason: 'offers_exhausted' });
    const waited = { firstId: idOf(98), sinceUs: NOW_US - 1, queueOf: idOf(500) };
    expect(decided(inputOf([pool], { ...asked, waited }))).toMatchObject({
      outcome: 'offered',
      slate: [{ id: idOf(2) }],
    });
    const all = { ...asked, waited, excluded: new Set([idOf(1), idOf(2)]) };
    expect(decided(inputOf([pool], all))).toMatchObject({ outcome: 'queued', reason: 'offers_exhausted' });
  });
});

describe('work that a rule holds', () => {
  it('waits in the queue of the pool that the rule names, or of none', () => {
    const pool = poolOf({ queue: { max_depth: 3, ttl: '60s' } }, 3);
    const held = (fields: object, more: Partial<DecisionInput> = {}) =>
      decided(
        inputOf([pool], { ...more, poolId: undefined, rules: rulesOf({ expr: 'true', action: 'hold', ...fields }) }),
      );
    expect(held({})).toMatchObject({ outcome: 'queued', reason: 'held_by_rule', poolId: undefined });
    expect(held({ pool_id: idOf(500) })).toMatchObject({ outcome: 'max_depth_exceeded', reason: 'queue_full' });
    const waited = { firstId: idOf(98), sinceUs: NOW_US - 1_000_000, queueOf: idOf(500) };
    expect(held({ pool_id: idOf(500) }, { waited })).toMatchObject({
      ...{ outcome: 'queued', poolId: idOf(500), waitsUntilUs: NOW_US + 59_000_000 },
    });
    const old = { ...waited, sinceUs: NOW_US - 60_000_000 };
    expect(held({ pool_id: idOf(500) }, { waited: old })).toMatchObject({ outcome: 'dead_lettered' });
  });
});
