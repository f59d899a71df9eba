/** A binary heap of events by virtual time; equal times go by a seeded number, equal numbers by order of scheduling. */
import type { SimEvent } from './sim-event.js';

function isBefore(a: SimEvent, b: SimEvent): boolean {
  if (a.atUs !== b.atUs) return a.atUs < b.atUs;
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie;
}

/** The earliest event is on top. */
export class EventHeap {
  readonly #items: SimEvent[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): SimEvent | undefined {
    return this.#items[0];
  }

  /** All of them come so much later. */
  shift(byUs: number): void {
    for (const event of this.#items) event.atUs += byUs;
  }

  push(event: SimEvent): void {
    const items = this.#items;
    let at = items.length;
    items.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent];
      if (above === undefined || !isBefore(event, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = event;
  }

  pop(): SimEvent | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      let below = items[child];
      const right = items[child + 1];
      if (below !== undefined && right !== undefined && isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (below === undefined || !isBefore(below, last)) break;
      items[at] = below;
      at = child;
    }
    items[at] = last;
    return top;
  }
}
