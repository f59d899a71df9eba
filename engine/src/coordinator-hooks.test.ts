import { describe, expect, it } from 'vitest';
import { coordinatorHooks } from './coordinator-hooks.js';
import { createLog, createMetrics } from './telemetry/index.js';

function hooked(): { readonly hooks: ReturnType<typeof coordinatorHooks>; readonly lines: () => unknown[] } {
  const written: string[] = [];
  const log = createLog({ level: 'debug', write: (line) => void written.push(line) });
  return {
    hooks: coordinatorHooks(createMetrics(), log),
    lines: () => written.map((line): unknown => JSON.parse(line)),
  };
}

describe('lines about runs', () => {
  it('have tenant and run, and an error with its stack', () => {
    const { hooks, lines } = hooked();
    hooks.log('error', 'run parked', { run: 'tenant-1/run-1', code: 'poison_commit' });
    hooks.log('warn', 'loading failed', { run: 'run-2', error: new TypeError('no such table') });
    expect(lines()).toEqual([
      expect.objectContaining({
        level: 50,
        msg: 'run parked',
        tenant: 'tenant-1',
        run: 'run-1',
        code: 'poison_commit',
      }),
      expect.objectContaining({
        ...{ level: 40, run: 'run-2' },
        err: expect.objectContaining({ message: 'no such table', stack: expect.stringContaining('TypeError') }),
      }),
    ]);
  });
});
