/** A binary heap of keys by due time; ties go by order of arrival, so that equal inputs give equal orders. */

/** Something due. */
export interface Due {
  readonly key: string;
  readonly dueUs: number;
  readonly order: number;
}

/** Heap with the earliest on top. */
export class DueHeap {
  #items: Due[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** The earliest, undefined when empty. */
  peek(): Due | undefined {
    return this.#items[0];
  }

  push(item: Due): void {
    this.#items.push(item);
    this.#up(this.#items.length - 1);
  }

  /** Takes the earliest off; undefined when empty. */
  pop(): Due | undefined {
    const top = this.#items[0];
    const last = this.#items.pop();
    if (top === undefined || last === undefined || this.#items.length === 0) return top;
    this.#items[0] = last;
    this.#down(0);
    return top;
  }

  /** Replaces the content. */
  rebuild(items: readonly Due[]): void {
    this.#items = [];
    for (const item of items) this.push(item);
  }

  #before(a: number, b: number): boolean {
    const left = this.#items[a];
    const right = this.#items[b];
    if (left === undefined || right === undefined) return false;
    return left.dueUs < right.dueUs || (left.dueUs === right.dueUs && left.order < right.order);
  }

  #swap(a: number, b: number): void {
    const left = this.#items[a];
    const right = this.#items[b];
    if (left === undefined || right === undefined) return;
    this.#items[a] = right;
    this.#items[b] = left;
  }

  #up(start: number): void {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(start: number): void {
    let at = start;
    for (;;) {
      const left = at * 2 + 1;
      const right = left + 1;
      const child = this.#before(right, left) ? right : left;
      if (!this.#before(child, at)) return;
      this.#swap(at, child);
      at = child;
    }
  }
}
