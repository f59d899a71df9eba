import { describe, expect, it } from 'vitest';
import { capturedTerminal } from '../testing/captured-terminal.js';
import { Frame } from './frame.js';
import { painter } from './paint.js';
import { cut, oneLine, shorten } from './safe-text.js';
import { table } from './table.js';
import { processTerminal } from './terminal.js';
import { distanceText, momentText, spanText } from './times.js';

const stream = (isTTY: boolean): { isTTY: boolean; columns: number; rows: number; write: () => boolean } => ({
  isTTY,
  columns: 80,
  rows: 24,
  write: () => true,
});
const onTty = (env: Record<string, string>): ReturnType<typeof processTerminal> =>
  processTerminal(env, stream(true), stream(true));

describe('processTerminal', () => {
  it('has colours on a terminal only, unless told otherwise', () => {
    expect(onTty({ TERM: 'xterm' })).toMatchObject({ hasColour: true, isLive: true });
    expect(onTty({ TERM: 'xterm', NO_COLOR: '1' })).toMatchObject({ hasColour: false, isLive: true });
    expect(onTty({ TERM: 'xterm', NO_COLOR: '' }).hasColour).toBe(true);
    expect(onTty({ TERM: 'dumb' })).toMatchObject({ hasColour: false, isLive: false });
    const piped = (env: Record<string, string>): boolean =>
      processTerminal(env, stream(false), stream(false)).hasColour;
    expect([piped({}), piped({ FORCE_COLOR: '1' }), piped({ FORCE_COLOR: '1', NO_COLOR: '1' })]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('speaks Unicode where the locale does', () => {
    expect(onTty({ LANG: 'de_DE.UTF-8' }).isUnicode).toBe(true);
    expect(onTty({ LANG: 'C' }).isUnicode).toBe(false);
    expect(onTty({ LC_ALL: 'C', LANG: 'de_DE.UTF-8' }).isUnicode).toBe(false);
    expect(onTty({ LC_ALL: '', LANG: 'C.utf8' }).isUnicode).toBe(true);
  });

  it('takes the width of COLUMNS where nothing else tells it', () => {
    const { columns: _columns, ...unknown } = stream(false);
    expect(processTerminal({ COLUMNS: '72' }, unknown, unknown).columns()).toBe(72);
    expect(processTerminal({ COLUMNS: 'wide' }, unknown, unknown).columns()).toBe(100);
  });
});

describe('texts', () => {
  it('keep both ends of long names', () => {
    expect(shorten('a-very-long-step-name', 9)).toBe('a-ve…name');
    expect([...shorten('a-very-long-step-name', 9)]).toHaveLength(9);
    expect(shorten('short', 9)).toBe('short');
    expect(cut('abcdef', 4)).toBe('abc…');
  });

  it('neither move the cursor nor turn the writing', () => {
    expect(oneLine('a\u001b[1Ab\r\nc\u202ed\u0000')).toBe('a\ufffd[1Ab c\ufffdd\ufffd');
  });

  it('are painted only where colours are welcome', () => {
    expect(painter({ hasColour: true })('good', 'x')).toBe('\u001b[32mx\u001b[0m');
    expect(painter({ hasColour: false })('good', 'x')).toBe('x');
    expect(painter({ hasColour: true })('plain', 'x')).toBe('x');
  });
});

describe('table', () => {
  it('lines columns up by what is seen, not by what is written', () => {
    const rows = [
      [{ text: 'ü', tone: 'good' as const }, 'one'],
      ['long', 'two'],
    ];
    const text = table(capturedTerminal({ hasColour: true }), ['A', 'B'], rows);
    expect(text).toContain('\u001b[32mü\u001b[0m     one\n');
    expect(text).toContain('long  two\n');
  });

  it('cuts the last column for people only', () => {
    const rows = [['x', 'word '.repeat(40)]];
    const lineOf = (isLive: boolean): string => table(capturedTerminal({ isLive, columns: 40 }), ['A', 'B'], rows);
    expect(lineOf(false)).toContain('word '.repeat(39));
    expect([...(lineOf(true).split('\n')[1] ?? '')].length).toBe(40);
  });
});

describe('times', () => {
  it('are told in the units that matter', () => {
    expect([350_000, 1_200_000, 250_000_000, 7_200_000_000, 266_400_000_000].map(spanText)).toEqual([
      '350 ms',
      '1.2 s',
      '4 m 10 s',
      '2 h',
      '3 d 2 h',
    ]);
    expect(distanceText(5_000_000, 3_000_000)).toBe('in 2.0 s');
    expect(momentText(1_700_000_000_123_456)).toBe('2023-11-14 22:13:20.123Z');
    expect(momentText(null)).toBe('');
  });
});

describe('Frame', () => {
  it('draws over what it drew, never more than the screen holds', () => {
    let out = '';
    const frame = new Frame({ out: (text) => void (out += text), rows: () => 4 });
    frame.show('a\nb\n');
    frame.show('1\n2\n3\n4\n5\n');
    frame.show('end');
    expect(out).toBe('\r\u001b[Ja\nb\n\u001b[2A\r\u001b[J3\n4\n5\n\u001b[3A\r\u001b[Jend\n');
  });
});
