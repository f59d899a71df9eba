import { describe, expect, it } from 'vitest';
import { Actor } from './sim-event.js';
import { Choices } from './choices.js';
import { Scheduler } from './scheduler.js';
import { Trace } from './trace.js';

const nothing = (): void => undefined;
const never = (): boolean => false;

function scheduler(): Scheduler {
  return new Scheduler(new Choices(1), new Trace());
}

describe('virtual time', () => {
  it('lets promises settle and deferred work end before the next event', async () => {
    const world = scheduler();
    const actor = new Actor('a');
    const seen: string[] = [];
    world.after(10, actor, 'first', () => {
      seen.push('first');
      actor.deferred.push(() => seen.push('deferred'));
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push('promise'));
    });
    world.after(11, actor, 'second', () => seen.push('second'));
    await world.run(100, nothing, never);
    expect(seen).toEqual(['first', 'promise', 'deferred', 'second']);
    expect(world.nowUs).toBe(100);
  });

  it('holds back what happens in a paused process, and drops what happens in a dead one', async () => {
    const world = scheduler();
    const [paused, dead] = [new Actor('p'), new Actor('d')];
    const seen: [string, number][] = [];
    paused.state = 'paused';
    dead.die();
    world.after(10, paused, 'one', () => seen.push(['one', world.nowUs]));
    world.after(20, paused, 'two', () => seen.push(['two', world.nowUs]));
    const cancelled = world.after(15, paused, 'cancelled', () => seen.push(['cancelled', world.nowUs]));
    world.after(12, dead, 'dead', () => seen.push(['dead', world.nowUs]));
    world.after(50, null, 'goes on', () => {
      cancelled.isCancelled = true;
      world.release(paused);
    });
    await world.run(100, nothing, never);
    expect(seen).toEqual([
      ['one', 50],
      ['two', 50],
    ]);
  });

  it('orders what happens at one time by the seed', async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const world = new Scheduler(new Choices(seed), new Trace());
      const seen: number[] = [];
      for (let n = 0; n < 12; n += 1) world.after(5, null, '', () => seen.push(n));
      await world.run(10, nothing, never);
      return seen.join(' ');
    };
    expect(await orderOf(3)).toBe(await orderOf(3));
    expect(await orderOf(3)).not.toBe(await orderOf(4));
  });
});
