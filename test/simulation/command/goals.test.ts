import { describe, expect, it } from 'vitest';
import { goalLines, goalsOf, type Figures } from './goals.js';

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `n${index}`);

const ENOUGH: Figures = {
  seeds: 2_000,
  events: 5_000_000,
  virtualMs: 1_000 * 86_400_000,
  compared: 20_000,
  struck: new Map(names(24).map((name) => [name, 100])),
  kinds: names(24),
  marks: new Map(names(60).map((name) => [name, 1])),
  markNames: names(60),
  bugs: new Map(names(20).map((name) => [name, 500])),
  ...{ canary: 1, again: 10, differing: 0 },
};

function missed(change: Partial<Figures>): readonly string[] {
  return goalsOf({ ...ENOUGH, ...change }).flatMap(({ what, isMet }) => (isMet ? [] : [what]));
}

describe('the goals of a run', () => {
  it('are met by just enough', () => {
    expect(missed({})).toEqual([]);
  });

  it.each<[Partial<Figures>, string]>([
    [{ seeds: 1_999 }, 'seeds'],
    [{ events: 4_999_999 }, 'events'],
    [{ virtualMs: 999.9 * 86_400_000 }, 'virtual days'],
    [{ struck: new Map(names(23).map((name) => [name, 100])) }, 'times that each kind of fault struck'],
    [{ struck: new Map(names(24).map((name) => [name, 99])) }, 'times that each kind of fault struck'],
    [{ compared: 19_999 }, 'runs compared with the machine in one process'],
    [{ kinds: names(23) }, 'kinds of faults'],
    [{ marks: new Map(names(59).map((name) => [name, 1])) }, 'rare branches reached'],
    [{ markNames: names(59) }, 'rare branches reached'],
    [{ bugs: new Map([...ENOUGH.bugs, ['n3', null]]) }, 'planted bugs caught within 500 seeds'],
    [{ bugs: new Map() }, 'planted bugs caught within 500 seeds'],
    [{ canary: null }, 'the canary'],
    [{ canary: 2 }, 'the canary'],
    [{ again: 0 }, 'traces that are the same in two processes'],
    [{ differing: 1 }, 'traces that are the same in two processes'],
  ])('are missed by %o', (change, what) => {
    expect(missed(change)).toEqual([what]);
  });

  it('say what is missing', () => {
    const lines = goalLines(goalsOf({ ...ENOUGH, bugs: new Map([...ENOUGH.bugs, ['n3', null]]), kinds: names(25) }));
    expect(lines.join('\n')).toContain('19 of 20 (not n3)');
    expect(lines.join('\n')).toContain('MISSED   times that each kind of fault struck');
    expect(lines.join('\n')).toContain('0 (n24)');
  });
});
