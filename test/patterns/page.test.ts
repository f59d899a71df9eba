import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/child.js';

describe('docs/patterns.md', () => {
  it('shows the code that is tested', () => {
    const script = 'scripts/generate-pattern-docs.mjs';
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { cwd: ROOT, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
