/** A bus within one process: for a single node, and for several nodes in one process. */
import type { Clock } from '../kernel/index.js';
import type { Bus } from './bus.js';
import { newListeners } from './listeners.js';

/**
 * A bus within one process; every node that holds it hears every other.
 *
 * @param clock defers deliveries
 * @param failed told what a listener threw; default: nobody
 */
export function memoryBus(clock: Clock, failed: (error: unknown, topic: string) => void = () => undefined): Bus {
  const listeners = newListeners(clock, failed);
  return {
    publish: (topic, body) => listeners.tell(topic, body),
    subscribe: (topic, listener) => listeners.add(topic, listener),
  };
}
