import { describe, expect, it } from 'vitest';
import { DuctorError } from '../errors.js';
import type { System } from '../connection/system.js';
import { pastRefusals } from './past-refusals.js';

/** A machine on which time passes only by waiting. */
function machineOf(waits: number[]): System {
  let nowMs = 0;
  const timer = { cancel: () => undefined };
  return {
    ...{
      now: () => nowMs,
      keepAlive: () => timer,
      nextTurn: (callback) => callback(),
      random: () => 0.5,
      uuid: () => '',
    },
    after(ms, callback) {
      waits.push(ms);
      nowMs += ms;
      queueMicrotask(callback);
      return timer;
    },
  };
}

const refusal = (code: string, retryable = true, retryAfterMs?: number): DuctorError =>
  new DuctorError(code, 'not now', { retryable, ...(retryAfterMs !== undefined && { retryAfterMs }) });

describe('a start that was refused', () => {
  it('is sent again when the engine says, later each time', async () => {
    const waits: number[] = [];
    let tries = 0;
    const start = (): Promise<string> =>
      (tries += 1) < 4 ? Promise.reject(refusal('limit_exceeded', true, 40)) : Promise.resolve('run');
    expect(await pastRefusals(start, machineOf(waits))).toBe('run');
    expect(waits).toEqual([60, 120, 240]);
  });

  it('is given up after ten seconds, with what it was refused with', async () => {
    const waits: number[] = [];
    const start = (): Promise<string> => Promise.reject(refusal('node_starting'));
    await expect(pastRefusals(start, machineOf(waits))).rejects.toMatchObject({ code: 'node_starting' });
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(10_000);
    expect(waits.length).toBeLessThan(12);
  });

  it.each([
    refusal('node_fenced'),
    refusal('limit_exceeded', false),
    refusal('engine_unreachable'),
    new RangeError('a bug'),
  ])('is not sent again for %s', async (error) => {
    const waits: number[] = [];
    await expect(pastRefusals(() => Promise.reject(error), machineOf(waits))).rejects.toBe(error);
    expect(waits).toEqual([]);
  });
});
