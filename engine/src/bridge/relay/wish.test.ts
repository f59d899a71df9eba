import { describe, expect, it } from 'vitest';
import { tenantId } from '../testing/tasks.js';
import { readWish, wishText } from './wish.js';

const kind = { queue: 'default', familySlug: 'flow', handler: 'work', version: 3 };

describe('a hint of what is lacking', () => {
  it('is read as it was said, with the first kinds', () => {
    const kinds = Array.from({ length: 30 }, (_, version) => ({ ...kind, version }));
    const said = { nodeId: 'node', tenantId: tenantId(1), kinds };
    expect(readWish(wishText(said))).toEqual({ ...said, kinds: kinds.slice(0, 20) });
  });

  it('is none when it is anything else', () => {
    for (const text of ['', '{', '{}', '[]', '["a","b"]', '["a",1,[]]', 'null', ' '.repeat(100_000)]) {
      expect(readWish(text)).toBeNull();
    }
    expect(readWish('["a","b",[["q","f","h"],["q","f","h","1"],7,["q","f","h",1]]]')?.kinds).toHaveLength(1);
  });
});
