/** Parts of engines that share one process and one Postgres. */
import type { Bus } from '../../engine/src/workflow/coordinator/index.js';

/** Carries hints between the nodes of a test. */
export function localBus(): Bus {
  const listeners = new Map<string, Set<(body: string) => void>>();
  return {
    publish: (topic, body) => setImmediate(() => listeners.get(topic)?.forEach((listener) => listener(body))),
    subscribe(topic, listener) {
      listeners.set(topic, (listeners.get(topic) ?? new Set()).add(listener));
      return () => listeners.get(topic)?.delete(listener);
    },
  };
}

/** A store that answers nothing any more once its process is dead. */
export function untilDeath<T extends object>(store: T, isDead: () => boolean): T {
  return new Proxy(store, {
    get: (target, name, receiver) =>
      isDead() ? () => new Promise(() => undefined) : Reflect.get(target, name, receiver),
  });
}
