import { describe, expect, it } from 'vitest';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import type { PendingStart } from './run-cell.js';
import { DEFAULT_COORDINATOR_OPTIONS } from './options.js';
import { StartDoor, type Refusal } from './start-door.js';

const OPTIONS = {
  maxWaitingStarts: 100,
  maxWaitingStartsPerTenant: 80,
  startWaitMs: 50,
  leastWaitingStarts: 1,
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

/** A database whose commits take so long, and longer by each start in them; one is under way at a time. */
interface Pace {
  readonly commitMs: number;
  readonly startMs: number;
}

/** A node behind a door with the defaults, on a clock of the test. */
function nodeBehindDoor(pace: Pace) {
  const clock = manualClock();
  const door = new StartDoor(clock, DEFAULT_COORDINATOR_OPTIONS, () => undefined);
  let waiting: { readonly start: PendingStart; readonly atMs: number }[] = [];
  let underWay: typeof waiting = [];
  let doneMs = 0;
  let owed = 0;
  const commit = (nowMs: number, waits: number[]): void => {
    if (nowMs < doneMs) return;
    for (const { start, atMs } of underWay) {
      door.leave(start);
      waits.push(nowMs - atMs);
    }
    [underWay, waiting] = [waiting.slice(0, 1_024), waiting.slice(1_024)];
    if (underWay.length > 0) doneMs = nowMs + pace.commitMs + pace.startMs * underWay.length;
  };
  return {
    slower: (by: Pace) => (pace = by),
    /** Asks for so many a second, in calls of so many; p99 of those that were let in, and how many were. */
    ask(perSecond: number, forMs: number, atOnce = 1) {
      const waits: number[] = [];
      let refused = 0;
      for (let passedMs = 0; passedMs < forMs; passedMs += 1) {
        const nowMs = clock.monotonicMs();
        commit(nowMs, waits);
        for (owed += perSecond / 1_000; owed >= atOnce; owed -= atOnce) {
          for (let count = 0; count < atOnce; count += 1) {
            const start = { request: { tenantId: 'a' } } as PendingStart;
            try {
              door.enter(start);
              waiting.push({ start, atMs: nowMs });
            } catch {
              refused += 1;
            }
          }
        }
        clock.advance(1);
      }
      waits.sort((a, b) => a - b);
      const p99 = waits[Math.ceil(waits.length * 0.99) - 1] ?? 0;
      return { p99, perSecond: (waits.length * 1_000) / forMs, refused };
    },
  };
}

describe('a node whose commits take longer the more starts are in them', () => {
  const paces: readonly Pace[] = [
    { commitMs: 4, startMs: 1 },
    { commitMs: 10, startMs: 0.5 },
    { commitMs: 25, startMs: 0.4 },
  ];
  it.each(paces)('keeps to twice what is usual at three times what it can do: $commitMs ms, $startMs each', (pace) => {
    const node = nodeBehindDoor(pace);
    const mostPerSecond = 1_000 / pace.startMs;
    const normal = node.ask(mostPerSecond * 0.6, 20_000);
    const noticing = node.ask(mostPerSecond * 3, 5_000);
    const over = node.ask(mostPerSecond * 3, 20_000);
    node.ask(mostPerSecond * 0.6, 2_000);
    const after = node.ask(mostPerSecond * 0.6, 8_000);
    console.log(
      `door, ${JSON.stringify(pace)}: normal p99 ${normal.p99} ms; until it notices ${noticing.p99} ms; then ` +
        `${over.p99} ms, ${Math.round(over.perSecond)} of ${mostPerSecond} a second; after ${after.p99} ms`,
    );
    expect([normal.refused, after.refused]).toEqual([0, 0]);
    expect(noticing.refused).toBeGreaterThan(0);
    expect(over.p99).toBeLessThanOrEqual(2 * normal.p99);
    // Larger commits would do more; they would also take longer.
    expect(over.perSecond).toBeGreaterThan(mostPerSecond * 0.7);
    expect(after.p99).toBeLessThanOrEqual(1.2 * normal.p99);
  });

  it('learns that its database has become slower, and soon refuses nobody for that', () => {
    const node = nodeBehindDoor({ commitMs: 3, startMs: 0.3 });
    expect(node.ask(1_500, 20_000).refused).toBe(0);
    node.slower({ commitMs: 60, startMs: 0.3 });
    expect(node.ask(1_500, 5_000).refused).toBeLessThan(0.1 * 1_500 * 5);
    const then = node.ask(1_500, 40_000);
    expect(then.refused).toBeLessThan(0.01 * 1_500 * 40);
    expect(then.perSecond).toBeGreaterThan(1_450);
  });

  it('takes bursts that it can do right after an overload, too', () => {
    const node = nodeBehindDoor({ commitMs: 10, startMs: 0.5 });
    expect(node.ask(1_200, 20_000).refused).toBe(0);
    expect(node.ask(6_000, 15_000).refused).toBeGreaterThan(0);
    node.ask(400, 10_000, 400);
    expect(node.ask(400, 20_000, 400).refused).toBe(0);
  });

  it('takes bursts that it can do, also right after it had next to nothing to do', () => {
    const node = nodeBehindDoor({ commitMs: 3, startMs: 0.3 });
    expect(node.ask(100, 20_000).refused).toBe(0);
    expect(node.ask(2_500, 20_000, 500).refused).toBe(0);
  });
});
