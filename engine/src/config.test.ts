import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSettings, settingTexts } from './config.js';
import { DuctorError } from './kernel/index.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

function refusal(env: Record<string, string>): DuctorError {
  try {
    readSettings(env);
  } catch (error) {
    return DuctorError.from(error);
  }
  throw new TypeError('nothing was thrown');
}

describe('readSettings', () => {
  it('takes defaults for what is absent or empty', () => {
    expect(readSettings({ DUCTOR_HOST: '', OTHER: 'x' })).toMatchObject({
      ...{
        DUCTOR_HOST: '127.0.0.1',
        DUCTOR_PORT: 7400,
        DUCTOR_LEASE_MS: 5_000,
        DUCTOR_START_WAIT_MS: 500,
        DUCTOR_ALLOW_UNSAFE_DATABASE: false,
      },
    });
  });

  it('names everything that is wrong, and shows no secret', () => {
    const env = { DUCTOR_PORT: 'many', DATABASE_URL: 'mysql://root:hush@db', DUCTOR_ALLOW_UNSAFE_DATABASE: 'yes' };
    const { details, message } = refusal(env);
    expect(details.map(({ path }) => path).sort()).toEqual(Object.keys(env).sort());
    expect(JSON.stringify(details) + message).not.toContain('hush');
  });
});

describe('docs/configuration.md', () => {
  it('is what the schema says', () => {
    const script = 'scripts/generate-configuration-docs.mjs';
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { cwd: ROOT, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const page = readFileSync(`${ROOT}docs/configuration.md`, 'utf8');
    for (const { name, meaning } of settingTexts()) {
      expect(page).toContain(`| \`${name}\``);
      expect(meaning).toMatch(/\.$/);
    }
  });
});
