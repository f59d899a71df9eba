/** What the bench concludes from a step log with a kill in it. */
import { describe, expect, it } from 'vitest';
import { judgeKill, parseMarks } from '../../bench/peers/step-log.js';

describe('judgeKill', () => {
  it('tells steps that were cut off from steps whose recorded end was lost', () => {
    const log = parseMarks(
      [
        's 1 a 100',
        'e 1 a 200',
        's 1 b 210',
        's 2 a 110',
        'e 2 a 215',
        // The kill at 250: 1/b was running; 2/a had ended, and yet it runs again.
        's 1 b 900',
        'e 1 b 1000',
        's 2 a 905',
        'e 2 a 1005',
        '',
      ].join('\n'),
    );
    expect(judgeKill(log, 250)).toEqual({ killToLastMs: 755, inFlight: 1, duplicates: 2, endedButRunAgain: 1 });
  });

  it('has no time when nothing ended after the kill', () => {
    expect(judgeKill(parseMarks('s 1 a 100\ne 1 a 200\n'), 250).killToLastMs).toBeNaN();
  });

  it('refuses a line that is none', () => {
    expect(() => parseMarks('s 1 a\n')).toThrow(/no line of a step log/);
  });
});
