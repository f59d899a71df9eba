import { describe, expect, it } from 'vitest';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import type { PendingStart } from './run-cell.js';
import { StartDoor, type Refusal } from './start-door.js';

const OPTIONS = {
  maxWaitingStarts: 100,
  maxWaitingStartsPerTenant: 80,
  startWaitMs: 50,
  standingMs: 200,
  calmMs: 1_000,
};

function kit(options: Partial<typeof OPTIONS> = {}) {
  const clock = manualClock();
  const refusals: Refusal[] = [];
  const door = new StartDoor(clock, { ...OPTIONS, ...options }, (why) => refusals.push(why));
  const enter = (tenantId = 'a'): PendingStart => {
    const start = { request: { tenantId } } as PendingStart;
    door.enter(start);
    return start;
  };
  return { clock, door, enter, refusals };
}

describe('the door of starts', () => {
  it('bounds what waits, of a node and of a tenant', () => {
    const { enter, refusals } = kit();
    for (let count = 0; count < 80; count += 1) enter('a');
    expect(() => enter('a')).toThrow(expect.objectContaining({ code: 'limit_exceeded', retryAfterMs: 100 }));
    for (let count = 0; count < 20; count += 1) enter('b');
    expect(() => enter('c')).toThrow('100 starts wait on this node');
    expect(refusals).toEqual(['tenant', 'node']);
  });

  it('refuses nobody for a burst, nor for a pause that is shorter than the line may stand', () => {
    const { clock, door, enter, refusals } = kit();
    const burst = Array.from({ length: 70 }, () => enter());
    clock.advance(190);
    const last = enter();
    for (const start of [...burst, last]) door.leave(start);
    clock.advance(190);
    enter();
    expect(refusals).toEqual([]);
  });

  it('refuses once the line stands, with the wait as the hint, until it moves again', () => {
    const { clock, door, enter, refusals } = kit();
    const line = [enter(), enter()];
    clock.advance(60);
    line.push(enter());
    clock.advance(340);
    expect(() => enter()).toThrow(expect.objectContaining({ code: 'limit_exceeded', retryAfterMs: 400 }));
    expect(refusals).toEqual(['overload']);
    for (const start of line) door.leave(start);
    enter();
    // Three in 400 ms have left: one may wait for 50 ms. Once nobody was refused for a second, all may.
    expect(() => enter()).toThrow('asked for more than it can do');
    clock.advance(1_000);
    door.leave(enter('b'));
  });

  it('lets in who asks for little while another one stands in line', () => {
    const { clock, enter } = kit();
    for (let count = 0; count < 10; count += 1) enter('greedy');
    clock.advance(60);
    enter('greedy');
    clock.advance(240);
    expect(() => enter('greedy')).toThrow('asked for more than it can do');
    enter('modest');
    enter('modest');
    expect(() => enter('greedy')).toThrow('asked for more than it can do');
  });
});
