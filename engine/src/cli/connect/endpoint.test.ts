import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { findEndpoint } from './endpoint.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ductor-endpoint-'));
  writeFileSync(join(folder, 'ready.json'), '{"address": "127.0.0.1:7411", "api_key": "of-dev", "tenant": "t"}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function refusal(env: Record<string, string>, dataDir = folder): DuctorError {
  try {
    findEndpoint(env, dataDir);
  } catch (error) {
    return DuctorError.from(error);
  }
  throw new TypeError('nothing was thrown');
}

describe('findEndpoint', () => {
  it('takes what the environment says', () => {
    const env = { DUCTOR_ADDRESS: 'https://engine.example:443,other:1', DUCTOR_API_KEY: 'k' };
    expect(findEndpoint(env, folder)).toMatchObject({ address: 'engine.example:443', isSecure: true, apiKey: 'k' });
    const six = { DUCTOR_ADDRESS: '[::1]:7400', DUCTOR_API_KEY: 'k' };
    expect(findEndpoint(six)).toMatchObject({ address: '[::1]:7400', isSecure: false });
  });

  it('takes what a development engine wrote, where the environment says nothing', () => {
    const expected = { address: '127.0.0.1:7411', apiKey: 'of-dev', source: join(folder, 'ready.json') };
    expect(findEndpoint({}, folder)).toMatchObject(expected);
    expect(findEndpoint({ DUCTOR_DATA_DIR: folder, DUCTOR_ADDRESS: '' })).toMatchObject(expected);
    expect(findEndpoint({ DUCTOR_API_KEY: 'mine' }, folder).apiKey).toBe('mine');
  });

  it('sends the key of a development engine to that engine only', () => {
    expect(findEndpoint({ DUCTOR_ADDRESS: '127.0.0.1:7411' }, folder).apiKey).toBe('of-dev');
    const { message, remedy } = refusal({ DUCTOR_ADDRESS: 'evil.example:7411' });
    expect(message).toContain('DUCTOR_API_KEY is not set');
    expect(remedy).toContain('DUCTOR_API_KEY');
  });

  it.each(['nowhere', 'host:0', 'host:70000', 'ftp://host:1', 'user@host:1', 'host:1/path'])(
    'refuses %s',
    (address) => {
      const { code, details } = refusal({ DUCTOR_ADDRESS: address, DUCTOR_API_KEY: 'k' });
      expect(code).toBe('invalid_argument');
      expect(details[0]).toMatchObject({ path: 'DUCTOR_ADDRESS', value: address });
    },
  );

  it('says what to do where no engine is known, or the file is broken', () => {
    expect(refusal({}, join(folder, 'none')).remedy).toContain('ductor dev');
    writeFileSync(join(folder, 'broken'), '');
    const broken = mkdtempSync(join(folder, 'b-'));
    writeFileSync(join(broken, 'ready.json'), '{');
    expect(refusal({}, broken).message).toContain('does not say how the engine is reached');
  });
});
