/** What the bench reads of /proc and of CPU profiles. */
import { describe, expect, it } from 'vitest';
import { loadBetween } from '../../bench/peers/meter.js';
import { type Snapshot, parseBusy, parseStat, treeSeconds } from '../../bench/peers/processes.js';
import { summarise } from '../../bench/peers/profile.js';

/** Processes by id: parent, own seconds, seconds of ended children. */
function snapshot(busySeconds: number, processes: Readonly<Record<number, [number, number, number]>>): Snapshot {
  const entries = Object.entries(processes).map(
    ([pid, [parent, ownSeconds, reapedSeconds]]) => [Number(pid), { parent, ownSeconds, reapedSeconds }] as const,
  );
  return { busySeconds, processes: new Map(entries) };
}

describe('/proc', () => {
  it('reads a stat line whose command holds spaces and parentheses', () => {
    const line = '42 (a) (b c) S 7 42 42 0 -1 4194304 1 2 3 4 150 50 30 20 20 0 1 0 99 1000 200';
    expect(parseStat(line)).toEqual({ parent: 7, ownSeconds: 2, reapedSeconds: 0.5 });
    expect(parseStat('')).toBeUndefined();
  });

  it('counts neither idle time nor waiting as busy', () => {
    expect(parseBusy('cpu  100 10 50 5000 400 20 10 10 0 0\ncpu0 1 2 3\n')).toBe(2);
  });
});

describe('loadBetween', () => {
  // 10 is the bench, 11 its worker, 20 the server with 21; 30 belongs to somebody else.
  const before = snapshot(100, { 10: [1, 1, 0], 11: [10, 2, 0], 20: [1, 5, 1], 21: [20, 3, 0], 30: [1, 50, 0] });
  const after = snapshot(120, { 10: [1, 2, 4], 11: [10, 6, 0], 20: [1, 6, 2], 21: [20, 5, 0], 30: [1, 53, 0] });

  it('attributes time to roles, the server and others', () => {
    const who = { roles: new Map([['worker', 11]]), postmaster: 20 };
    expect(loadBetween(who, before, after, { seconds: 2, self: 10 })).toEqual({
      cores: { worker: 2, postgres: 2 },
      foreign: (20 - 9 - 4) / 2,
    });
  });

  it('does not count a server twice that the bench started', () => {
    const below = snapshot(0, { 10: [1, 1, 0], 20: [10, 5, 0], 21: [20, 3, 0] });
    expect([treeSeconds(below, 10), treeSeconds(below, 10, 20), treeSeconds(below, 20)]).toEqual([9, 1, 8]);
  });
});

describe('summarise', () => {
  const frame = (id: number, functionName: string, url: string): object => ({
    id,
    callFrame: { functionName, url, lineNumber: 9 },
  });

  it('sums self time by function and by part, idle time apart', () => {
    const nodes = [
      frame(1, '(idle)', ''),
      frame(2, 'advance', 'file:///x/engine/dist/workflow/machine/advance.js'),
      frame(3, 'parse', 'file:///x/node_modules/@grpc/grpc-js/build/src/a.js'),
      frame(4, '(garbage collector)', ''),
    ];
    const profile = { nodes, samples: [1, 2, 3, 2, 4], timeDeltas: [6_000, 1_000, 500, 2_000, 500] };
    const summary = summarise(JSON.parse(JSON.stringify(profile)));
    expect([summary.wallMs, summary.busyShare]).toEqual([10, 0.4]);
    expect(summary.functions.map(({ name, ms, share }) => [name, ms, share])).toEqual([
      ['advance engine/dist/workflow/machine/advance.js:10', 3, 0.75],
      ['parse node_modules/@grpc/grpc-js/build/src/a.js:10', 0.5, 0.125],
      ['(garbage collector)', 0.5, 0.125],
    ]);
    expect(summary.parts.map(({ name }) => name)).toEqual([
      'engine/dist/workflow/machine',
      '@grpc/grpc-js',
      '(garbage collector)',
    ]);
  });
});
