import { describe, expect, it } from 'vitest';
import { masked } from './update-mask.js';

describe('a partial update', () => {
  it('names what is there, as deep as fields go, and clears what is null', () => {
    const { sent, updateMask } = masked({
      ...{ strategy: 'random', description: null, status: undefined },
      config: { defaultTimeout: '45s', health: { consecutive: 3, base: null } },
    });
    expect(updateMask).toEqual([
      ...['strategy', 'description', 'config.default_timeout', 'config.health.consecutive', 'config.health.base'],
    ]);
    expect(sent).toEqual({ strategy: 'random', config: { defaultTimeout: '45s', health: { consecutive: 3 } } });
  });

  it('takes lists, strategies and what a key of a map holds as a whole', () => {
    const recipe = { name: 'seat_pool', params: { ttl: '60s' } };
    const { updateMask } = masked({
      ...{ tags: ['a'], attributes: { skill: { stringValue: 'x' }, 'a key': null }, config: { recipe } },
      capacity: { unitCosts: { chat: 2 } },
    });
    expect(updateMask).toEqual([
      ...['tags', 'attributes.skill', 'attributes.`a key`', 'config.recipe', 'capacity.unit_costs.chat'],
    ]);
  });
});
