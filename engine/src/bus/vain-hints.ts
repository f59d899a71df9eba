/** Spares hints that nobody could hear: with one node, a notification for each batch of runs that changed. */
import type { Bus } from './bus.js';

/**
 * A bus on which one topic is only spoken of while there is another node. A node that has just joined and is not known
 * yet misses those hints until then; who listens to the topic looks by himself now and then.
 *
 * @param topic the topic that is spared
 * @param hasOthers whether another node is known to live
 */
export function withoutVainHints(bus: Bus, topic: string, hasOthers: () => boolean): Bus {
  return {
    publish(spoken, body) {
      if (spoken !== topic || hasOthers()) bus.publish(spoken, body);
    },
    subscribe: (heard, listener) => bus.subscribe(heard, listener),
  };
}
