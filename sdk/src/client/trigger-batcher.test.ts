import { describe, expect, it } from 'vitest';
import { TriggerOutcome, TriggerRunRequest } from '../gen/ductor/v1/run.js';
import { DuctorError } from '../errors.js';
import { TriggerBatcher } from './trigger-batcher.js';

const item = (familySlug: string): TriggerRunRequest => TriggerRunRequest.fromPartial({ familySlug });
const turn = (callback: () => void): void => void setImmediate(callback);

describe('TriggerBatcher', () => {
  it('sends what one turn brought as one call and gives each its own outcome', async () => {
    const calls: number[] = [];
    const batcher = new TriggerBatcher((items) => {
      calls.push(items.length);
      return Promise.resolve(items.map(({ familySlug }) => TriggerOutcome.fromPartial({ runId: `run-${familySlug}` })));
    }, turn);
    const outcomes = await Promise.all(['a', 'b', 'c'].map((slug) => batcher.trigger(item(slug))));
    expect(calls).toEqual([3]);
    expect(outcomes.map((outcome) => outcome.runId)).toEqual(['run-a', 'run-b', 'run-c']);
  });

  it('refuses the item that was refused, with its details, and no other', async () => {
    const batcher = new TriggerBatcher(
      (items) =>
        Promise.resolve(
          items.map(({ familySlug }) =>
            familySlug === 'bad'
              ? TriggerOutcome.fromPartial({
                  error: { code: 'not_found', message: 'there is no workflow bad' },
                  problems: [{ path: 'family_slug', problem: 'unknown' }],
                })
              : TriggerOutcome.fromPartial({ runId: familySlug }),
          ),
        ),
      turn,
    );
    const [good, bad] = await Promise.allSettled([batcher.trigger(item('good')), batcher.trigger(item('bad'))]);
    expect(good.status).toBe('fulfilled');
    const reason: unknown = bad.status === 'rejected' ? bad.reason : undefined;
    expect(reason).toBeInstanceOf(DuctorError);
    expect(reason).toMatchObject({ code: 'not_found', details: [{ path: 'family_slug' }] });
  });

  it('rejects all items of a call that failed, and sends at most 4 calls at once', async () => {
    let out = 0;
    let most = 0;
    const batcher = new TriggerBatcher(async (items) => {
      most = Math.max(most, ++out);
      await new Promise((resolve) => setTimeout(resolve, 5));
      out -= 1;
      if (items.some(({ familySlug }) => familySlug === '7')) throw new DuctorError('engine_unreachable', 'gone');
      return items.map(() => TriggerOutcome.fromPartial({ runId: 'x' }));
    }, turn);
    const settled: Promise<PromiseSettledResult<TriggerOutcome>[]>[] = [];
    for (let index = 0; index < 12; index += 1) {
      settled.push(Promise.allSettled([batcher.trigger(item(String(index)))]));
      await new Promise(setImmediate);
    }
    const failed = (await Promise.all(settled)).flat().filter(({ status }) => status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4);
  });
});
