import fc from 'fast-check';
import { assert, describe, expect, it } from 'vitest';
import { SemaphoreBook } from './book.js';
import { keyOf, nameOf, type Holder, type SemaphoreUsage, type Turn, type Waiter, type Want } from './usage.js';

const TENANT = 't';
const who = (runId: string, path = 's'): Holder => ({ tenantId: TENANT, runId, path });
const room = (key: string, limit: number): Want => ({ kind: 'concurrency', key, limit });
const rate = (key: string, limit: number, perUs: number): Want => ({ kind: 'rate', key, limit, perUs });

/** The tables, as a store would keep them, with a line of which only so many are read. */
class Tables {
  readonly holds = new Map<string, Holder & { readonly key: string; readonly limit: number }>();
  readonly line: (Waiter & { readonly key: string })[] = [];
  readonly next = new Map<string, number>();
  nowUs = 1_000_000;
  /** Grants that somebody has to hear of. */
  readonly turns: Turn[] = [];

  constructor(readonly page = 100) {}

  usage(key: string, page = this.page): SemaphoreUsage {
    const holders = [...this.holds.values()].filter((hold) => hold.key === key);
    const counts = new Map<number, number>();
    for (const { limit } of holders) counts.set(limit, (counts.get(limit) ?? 0) + 1);
    const line = this.line.filter((waiter) => waiter.key === key);
    return {
      ...{ tenantId: TENANT, key, nextAtUs: this.next.get(key) ?? 0 },
      holders: [...counts].map(([limit, count]) => ({ limit, count })),
      holds: holders.map(({ tenantId, runId, path, limit }) => ({ tenantId, runId, path, limit })),
      ...{ line: line.slice(0, page), isLonger: line.length > page },
      waits: line,
    };
  }

  /** One batch over these wants. */
  batch<T>(wants: readonly Want[], work: (book: SemaphoreBook) => T, page = this.page): T {
    const keys = [...new Set(wants.map(keyOf))];
    const book = new SemaphoreBook(
      keys.map((key) => this.usage(key, page)),
      this.nowUs,
    );
    const fork = book.fork();
    const result = work(fork);
    const turns = book.keep(fork);
    if (book.isShort) return this.batch(wants, work, page * 10);
    this.turns.push(...turns);
    const { semaphores, holds, releases, waits, leaves, marks } = book.changes();
    const nameIn = ({ runId, path, key }: Holder & { key: string }): string => `${key} ${runId}/${path}`;
    for (const gone of releases) assert.isTrue(this.holds.delete(nameIn(gone)));
    for (const gone of leaves) {
      const at = this.line.findIndex((waiter) => nameIn(waiter) === nameIn(gone));
      if (at >= 0) this.line.splice(at, 1);
    }
    for (const { isCalled, isElsewhere, ...marked } of marks) {
      const at = this.line.findIndex((waiter) => nameIn(waiter) === nameIn(marked));
      const waiter = this.line[at];
      assert.isDefined(waiter);
      this.line[at] = { ...waiter, isCalled, isElsewhere };
    }
    for (const hold of holds) {
      assert.isFalse(this.holds.has(nameIn(hold)));
      this.holds.set(nameIn(hold), hold);
    }
    this.line.push(...waits);
    for (const { key, held, limit, nextAtUs } of semaphores) {
      const mine = [...this.holds.values()].filter((hold) => hold.key === key);
      assert.deepEqual([held, limit], [mine.length, mine.length === 0 ? 0 : Math.min(...mine.map((one) => one.limit))]);
      this.next.set(key, nextAtUs);
    }
    return result;
  }

  ask(holder: Holder, wants: readonly Want[], ticket = 1): string {
    return this.batch(wants, (book) => book.ask(holder, ticket, wants)).kind;
  }

  release(holder: Holder, wants: readonly Want[]): void {
    assert.isTrue(this.batch(wants, (book) => book.release(holder, wants)));
  }
}

describe('room under a key', () => {
  it('goes to so many, and to the next in line when one gives it back', () => {
    const tables = new Tables();
    const wants = [room('k', 2)];
    expect(['a', 'b', 'c', 'd'].map((run) => tables.ask(who(run), wants))).toEqual([
      ...['granted', 'granted', 'waiting', 'waiting'],
    ]);
    tables.release(who('b'), wants);
    expect(tables.turns.map(({ to, startAtUs }) => [to.runId, startAtUs])).toEqual([['c', tables.nowUs]]);
    // Nobody passes the line: d was there before.
    tables.release(who('a'), wants);
    expect(tables.ask(who('e'), wants)).toBe('waiting');
    expect(tables.turns.at(-1)?.to.runId).toBe('d');
  });

  it('is given back once, and by whoever leaves the line, too', () => {
    const tables = new Tables();
    const wants = [room('k', 1)];
    for (const run of ['a', 'b', 'c']) tables.ask(who(run), wants);
    tables.release(who('b'), wants);
    tables.release(who('a'), wants);
    tables.release(who('a'), wants);
    expect(tables.turns.map(({ to }) => to.runId)).toEqual(['c']);
    expect(tables.holds.size).toBe(1);
  });

  it('follows the smallest limit of holders and of those before in line', () => {
    const tables = new Tables();
    tables.ask(who('a'), [room('k', 5)]);
    tables.ask(who('b'), [room('k', 2)]);
    expect(tables.ask(who('c'), [room('k', 5)])).toBe('waiting');
    tables.release(who('b'), [room('k', 2)]);
    expect(tables.turns.map(({ to }) => to.runId)).toEqual(['c']);
    expect(tables.ask(who('d'), [room('k', 1)])).toBe('waiting');
    expect(tables.ask(who('e'), [room('k', 5)])).toBe('waiting');
  });

  it('is held by a run for its steps', () => {
    const tables = new Tables();
    expect(tables.ask(who('a', ''), [room('k', 1)])).toBe('granted');
    expect(tables.ask(who('a', 's'), [room('k', 1)])).toBe('granted');
    tables.release(who('a', 's'), [room('k', 1)]);
    expect(tables.ask(who('b', 's'), [room('k', 1)])).toBe('waiting');
  });
});

describe('room under several keys', () => {
  const both = [room('x', 1), room('y', 1)];

  it('is granted all or nothing; who waits for another key is passed', () => {
    const tables = new Tables();
    tables.ask(who('a'), [room('y', 1)]);
    expect(tables.ask(who('b'), both)).toBe('waiting');
    // x is free, and b waits for y only: c passes it, d does not pass c.
    expect(tables.ask(who('c'), [room('x', 1)])).toBe('granted');
    expect(tables.ask(who('d'), [room('x', 1)])).toBe('waiting');
    tables.release(who('c'), [room('x', 1)]);
    expect(tables.turns).toMatchObject([{ to: { runId: 'd' }, startAtUs: tables.nowUs }]);
    // In the line of y it is the first one: nobody passes it there, and it is called when y is free.
    expect(tables.ask(who('e'), [room('y', 1)])).toBe('waiting');
    tables.release(who('a'), [room('y', 1)]);
    expect(tables.turns.at(-1)).toMatchObject({ to: { runId: 'b' }, startAtUs: null });
    expect(tables.ask(who('b'), both)).toBe('waiting');
    expect(tables.turns.at(-1)).toMatchObject({ to: { runId: 'e' }, startAtUs: tables.nowUs });
  });

  it('comes to those behind a line that was read in part, when all before them wait elsewhere or leave', () => {
    const tables = new Tables(1);
    const [one, two] = [[room('x', 1)], [room('x', 1), room('y', 1)]];
    tables.ask(who('a'), one);
    tables.ask(who('b'), two);
    expect(tables.ask(who('c'), [room('y', 2)])).toBe('granted');
    expect(tables.ask(who('d'), [room('y', 1)])).toBe('waiting');
    tables.release(who('b'), two);
    tables.release(who('c'), [room('y', 2)]);
    expect(tables.turns.at(-1)).toMatchObject({ to: { runId: 'd' }, startAtUs: tables.nowUs });
  });

  it('comes to who was called and asks again', () => {
    const tables = new Tables();
    tables.ask(who('a'), [room('y', 1)]);
    tables.ask(who('b'), both);
    tables.release(who('a'), [room('y', 1)]);
    expect(tables.turns).toMatchObject([{ to: { runId: 'b' }, startAtUs: null }]);
    expect(tables.ask(who('b'), both)).toBe('granted');
    expect(tables.line).toEqual([]);
  });
});

describe('lines in different orders, which must not be', () => {
  it('come to an end', () => {
    const wants = [room('x', 1), room('y', 1)];
    const waiter = (runId: string): Waiter => {
      return { ...who(runId), ticket: 1, wants, isCalled: false, isElsewhere: false, sinceUs: 1 };
    };
    const usage = (key: string, line: readonly Waiter[]): SemaphoreUsage => {
      return { tenantId: TENANT, key, nextAtUs: 0, holders: [], holds: [], line, isLonger: false, waits: line };
    };
    const [a, b] = [waiter('a'), waiter('b')];
    const book = new SemaphoreBook([usage('c/x', [a, b]), usage('c/y', [b, a])], 1);
    expect(book.ask(who('c'), 2, wants)).toEqual({ kind: 'waiting' });
  });
});

describe('rates', () => {
  it('spread beginnings evenly, never more than the limit in any period', () => {
    const tables = new Tables();
    const wants = [rate('api', 3, 1_000_000)];
    const starts: number[] = [];
    for (let at = 0; at < 30; at += 1) {
      const answer = tables.batch(wants, (book) => book.ask(who(`r${at}`), 1, wants));
      if (answer.kind === 'granted') starts.push(answer.startAtUs);
      tables.nowUs += 50_000;
    }
    expect(starts).toHaveLength(30);
    for (const from of starts) {
      expect(starts.filter((at) => at >= from && at < from + 1_000_000).length).toBeLessThanOrEqual(3);
    }
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThanOrEqual(29 * 333_334);
  });

  it('are charged only with everything else', () => {
    const tables = new Tables();
    const wants = [room('k', 1), rate('api', 1, 1_000_000)];
    expect([tables.ask(who('a'), wants), tables.ask(who('b'), wants)]).toEqual(['granted', 'waiting']);
    expect(tables.next.get('r/api')).toBe(2_000_000);
    tables.release(who('a'), wants);
    expect(tables.turns).toMatchObject([{ to: { runId: 'b' }, startAtUs: 2_000_000 }]);
  });
});

/** A tick that is not kept leaves nothing behind. */
function expectNothingLeft(tables: Tables, holder: Holder, wants: readonly Want[]): void {
  const book = new SemaphoreBook(
    wants.map((want) => tables.usage(keyOf(want))),
    tables.nowUs,
  );
  book.fork().release(holder, wants);
  expect(book.changes().semaphores).toEqual([]);
}

describe('any sequence of calls', () => {
  const wants = fc.uniqueArray(
    fc.record({ key: fc.constantFrom('a', 'b', 'c'), limit: fc.integer({ min: 1, max: 3 }) }),
    {
      ...{ minLength: 1, maxLength: 3, selector: ({ key }: { key: string }) => key },
    },
  );
  const call = fc.record({
    run: fc.nat(7),
    wants,
    what: fc.constantFrom('ask' as const, 'ask' as const, 'release' as const, 'undone' as const),
  });

  it('never passes a limit, holds nothing while waiting, and loses nobody who waits', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 80 }), fc.constantFrom(1, 2, 100), (calls, page) => {
        const tables = new Tables(page);
        const asked = new Map<number, readonly Want[]>();
        const check = (): void => {
          for (const key of ['c/a', 'c/b', 'c/c']) {
            const limits = [...tables.holds.values()].filter((hold) => hold.key === key).map(({ limit }) => limit);
            if (limits.length > 0) expect(limits.length).toBeLessThanOrEqual(Math.min(...limits));
          }
          for (const waiter of tables.line) {
            const holds = [...tables.holds.values()].filter(({ runId }) => runId === waiter.runId);
            expect(holds).toEqual([]);
          }
        };
        /** Lets those who were called ask again, until nobody is called. */
        const answerCalls = (): void => {
          let answered = 0;
          for (let turn = tables.turns.shift(); turn !== undefined; turn = tables.turns.shift()) {
            answered += 1;
            // Calls that only lead to calls would go round for ever.
            expect(answered).toBeLessThan(1_000);
            const mine = asked.get(Number(turn.to.runId));
            if (turn.startAtUs !== null || mine === undefined) continue;
            tables.ask(who(turn.to.runId), mine);
            check();
          }
        };
        for (const { run, wants: drawn, what } of calls) {
          const mine = asked.get(run);
          const name = String(run);
          if (what === 'ask' && mine === undefined) {
            const list = drawn.map(({ key, limit }) => room(key, limit));
            asked.set(run, list);
            tables.ask(who(name), list);
          } else if (what === 'release' && mine !== undefined) {
            asked.delete(run);
            tables.release(who(name), mine);
          } else if (what === 'undone' && mine !== undefined) {
            expectNothingLeft(tables, who(name), mine);
          }
          check();
          answerCalls();
        }
        // Everybody gives back what they have: in the end nobody waits.
        for (let rounds = 0; asked.size > 0 && rounds < 50; rounds += 1) {
          const [holder] = [...tables.holds.values()];
          if (holder === undefined) break;
          const mine = asked.get(Number(holder.runId)) ?? [];
          asked.delete(Number(holder.runId));
          tables.release(who(holder.runId), mine);
          check();
          answerCalls();
        }
        expect(tables.line).toEqual([]);
        expect([...tables.holds.values()]).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  it('names semaphores by tenant and kind', () => {
    expect(nameOf({ tenantId: 't', key: keyOf(rate('k', 1, 1)) })).toBe('t/r/k');
  });
});
