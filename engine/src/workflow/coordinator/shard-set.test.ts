import { describe, expect, it } from 'vitest';
import { ShardSet } from './shard-set.js';

describe('the shards of a node', () => {
  it('follow the view of each heartbeat', () => {
    const shards = new ShardSet();
    expect(shards.follow([3, 1, 2], 1)).toEqual({ gained: [1, 2, 3], lost: [] });
    expect(shards.follow([2, 3, 4], 2)).toEqual({ gained: [4], lost: [1] });
    expect(shards.ticking()).toEqual([2, 3, 4]);
    expect(shards.isSettled(2)).toBe(false);
    shards.settle([2, 9]);
    expect([shards.isSettled(2), shards.isSettled(3), shards.isSettled(9)]).toEqual([true, false, false]);
  });

  it('are drained until a heartbeat that was sent after the hand-over', () => {
    const shards = new ShardSet();
    shards.follow([1, 2], 1);
    shards.drain([2]);
    expect(shards.ticks(2)).toBe(false);
    expect(shards.owned()).toEqual([1, 2]);
    // A view of before the hand-over says nothing, whichever way it comes out.
    expect(shards.follow([1, 2], 2)).toEqual({ gained: [], lost: [] });
    shards.handedOver([2], 4);
    expect(shards.follow([1, 2], 3)).toEqual({ gained: [], lost: [] });
    expect(shards.follow([1], 4)).toEqual({ gained: [], lost: [] });
    expect(shards.owned()).toEqual([1]);
  });

  it('come back when the hand-over failed', () => {
    const shards = new ShardSet();
    shards.follow([1], 1);
    shards.settle([1]);
    shards.drain([1]);
    shards.handedOver([1], 2);
    expect(shards.follow([1], 2)).toEqual({ gained: [1], lost: [] });
    expect([shards.ticks(1), shards.isSettled(1)]).toEqual([true, false]);
  });

  it('take turns for starts', () => {
    const shards = new ShardSet();
    expect(shards.nextForStart()).toBeUndefined();
    shards.follow([7, 8], 1);
    expect(new Set([shards.nextForStart(), shards.nextForStart()])).toEqual(new Set([7, 8]));
    shards.drain([7]);
    expect([shards.nextForStart(), shards.nextForStart()]).toEqual([8, 8]);
    expect(shards.clear()).toEqual([7, 8]);
    expect(shards.owned()).toEqual([]);
  });
});
