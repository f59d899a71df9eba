/** Who listens to what on this node. */
import type { Clock } from '../kernel/index.js';

/** Listeners by topic. */
export interface Listeners {
  /** Adds one. Returns how to remove it. */
  add(topic: string, listener: (body: string) => void): () => void;
  /** Tells all of a topic, once the current work is done; those that were removed by then hear nothing. */
  tell(topic: string, body: string): void;
}

/**
 * Listeners.
 *
 * @param clock defers the calls: a listener must not run inside the work of who publishes
 * @param failed told what a listener threw; the others hear the hint all the same
 */
export function newListeners(clock: Clock, failed: (error: unknown, topic: string) => void): Listeners {
  const byTopic = new Map<string, Set<(body: string) => void>>();
  const call = (topic: string, body: string): void => {
    for (const listener of byTopic.get(topic) ?? []) {
      try {
        listener(body);
      } catch (error) {
        failed(error, topic);
      }
    }
  };
  return {
    add(topic, listener) {
      const known = byTopic.get(topic) ?? new Set();
      byTopic.set(topic, known);
      // A function of its own: the same listener may be added twice.
      const own = (body: string): void => listener(body);
      known.add(own);
      return () => void known.delete(own);
    },
    tell(topic, body) {
      if ((byTopic.get(topic)?.size ?? 0) > 0) clock.defer(() => call(topic, body));
    },
  };
}
