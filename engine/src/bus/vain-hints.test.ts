import { expect, it } from 'vitest';
import { manualClock } from '../kernel/testing/manual-clock.js';
import { memoryBus } from './memory-bus.js';
import { withoutVainHints } from './vain-hints.js';

it('speaks of the topic only while there is another node, and of all else always', () => {
  const clock = manualClock();
  const bus = memoryBus(clock);
  const heard: string[] = [];
  for (const topic of ['runs', 'inbox']) bus.subscribe(topic, (body) => heard.push(`${topic} ${body}`));
  let hasOthers = false;
  const spared = withoutVainHints(bus, 'runs', () => hasOthers);
  spared.publish('runs', '1');
  spared.publish('inbox', '2');
  hasOthers = true;
  spared.publish('runs', '3');
  clock.settle();
  expect(heard).toEqual(['inbox 2', 'runs 3']);
});
