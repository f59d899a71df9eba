import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../../kernel/index.js';
import { patchOf } from './patch.js';

const MESSAGE = { name: 'n', config: { default_timeout: '45s' }, attributes: { 'a.b': { string_value: 'x' } } };

describe('patchOf', () => {
  it('takes what the mask names, and nothing else', () => {
    expect(patchOf(MESSAGE, ['config.default_timeout'])).toEqual({ config: { default_timeout: '45s' } });
  });

  it('clears what is named and absent', () => {
    expect(patchOf(MESSAGE, ['name', 'config.default_timeout', 'config.sla.pickup_within', 'tags'])).toEqual({
      ...{ name: 'n', tags: null },
      config: { default_timeout: '45s', sla: { pickup_within: null } },
    });
  });

  it('reads keys in backquotes', () => {
    expect(patchOf(MESSAGE, ['attributes.`a.b`', 'attributes.`c``d`'])).toEqual({
      attributes: { 'a.b': { string_value: 'x' }, 'c`d': null },
    });
  });

  it('knows no names but own ones', () => {
    expect(patchOf(MESSAGE, ['config.toString'])).toEqual({ config: { toString: null } });
    expect(Object.getPrototypeOf(patchOf(MESSAGE, ['__proto__.x']))).toBe(Object.prototype);
  });

  it.each([[undefined], [[]], [['']], [['a..b']], [['.a']], [['a.']], [['`a']]])('refuses %j', (mask) => {
    const refused = (): unknown => patchOf(MESSAGE, mask);
    expect(refused).toThrow(DuctorError);
    expect(refused).toThrow(/update_mask/);
  });
});
