/** Verdicts that no test database shows. */
import { describe, expect, it } from 'vitest';
import type { ServerReport } from '../../store/index.js';
import { judgePlans, judgeTables } from './judge-schema.js';
import { judgeServerReport } from './judge-server.js';

const SOUND: ServerReport = {
  version: '16.1',
  versionNumber: 160_001,
  settings: new Map([
    ['fsync', 'on'],
    ['synchronous_commit', 'on'],
    ['full_page_writes', 'on'],
    ['autovacuum', 'on'],
    ['track_counts', 'on'],
  ]),
  connections: { used: 10, max: 100 },
  isReadOnly: false,
  oldestTransactionMs: 0,
  skewMs: 3,
  errorMs: 1,
};
const verdicts = (change: Partial<ServerReport>): string[] =>
  judgeServerReport({ ...SOUND, ...change })
    .filter(({ level }) => level !== 'OK')
    .map(({ level, check }) => `${level} ${check}`);
const setting = (name: string): Partial<ServerReport> => ({ settings: new Map([...SOUND.settings, [name, 'off']]) });

describe('judgeServerReport', () => {
  it.each<[string, Partial<ServerReport>, string[]]>([
    ['a sound one', {}, []],
    ['an old version', { versionNumber: 140_010 }, ['FAIL database.version']],
    ['fsync off', setting('fsync'), ['FAIL database.durability']],
    ['synchronous_commit off', setting('synchronous_commit'), ['FAIL database.durability']],
    ['full_page_writes off', setting('full_page_writes'), ['FAIL database.durability']],
    ['autovacuum off', setting('autovacuum'), ['FAIL database.autovacuum']],
    ['a standby', { isReadOnly: true }, ['FAIL database.writable']],
    ['few connections left', { connections: { used: 85, max: 100 } }, ['WARN database.connections']],
    ['an old transaction', { oldestTransactionMs: 600_000 }, ['WARN database.transactions']],
    ['a clock that is far off', { skewMs: -2_500, errorMs: 2 }, ['WARN database.clock']],
    ['a clock that only looks far off', { skewMs: 1_500, errorMs: 900 }, []],
  ])('%s', (_, change, expected) => {
    expect(verdicts(change)).toEqual(expected);
  });

  it('says in every verdict but OK what it means and what to do', () => {
    const all = judgeServerReport({ ...SOUND, ...setting('fsync'), isReadOnly: true, oldestTransactionMs: 1e6 });
    for (const { level, meaning, remedy } of all) {
      expect(level === 'OK' || (meaning !== '' && remedy !== '')).toBe(true);
    }
  });
});

describe('judgePlans', () => {
  const possible = { indexes: ['runs_active'], wholeTables: [] };
  const statement = { name: 'list', indexes: ['runs_active'], isOfLane: false, possible };
  const scanning = { ...statement, usual: { indexes: [], wholeTables: ['runs'] } };

  it('minds scans of large tables only, and not those that lanes avoid', () => {
    expect(judgePlans([scanning], [{ name: 'runs', liveRows: 500 }])[0]?.level).toBe('OK');
    expect(judgePlans([scanning], [{ name: 'runs', liveRows: 50_000 }])[0]?.level).toBe('WARN');
    expect(judgePlans([{ ...scanning, isOfLane: true }], [{ name: 'runs', liveRows: 50_000 }])[0]?.level).toBe('OK');
  });
});

describe('judgeTables', () => {
  it('minds dead rows by number and by share', () => {
    const table = { name: 'runs', tableBytes: 1, indexBytes: 1, lastVacuumUs: null };
    const level = (liveRows: number, deadRows: number): string | undefined =>
      judgeTables([{ ...table, liveRows, deadRows }]).at(-1)?.level;
    expect([level(10, 9_000), level(1e6, 50_000), level(50_000, 50_000)]).toEqual(['OK', 'OK', 'WARN']);
  });
});
