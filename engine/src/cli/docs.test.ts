/** docs/cli.md says what the commands say, and every command says enough. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commandTexts } from './program.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

describe('docs/cli.md', () => {
  it('is what the commands say', () => {
    const script = 'scripts/generate-cli-docs.mjs';
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('every command', () => {
  it.each(commandTexts().map(({ path, help }) => [path, help]))('%s has an example', (path, help) => {
    expect(help).toContain(`Usage: ${path}`);
    expect(help.split('Examples:\n')[1]).toContain(path);
  });
});
