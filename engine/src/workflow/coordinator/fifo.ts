/** A queue with constant cost at both ends; an array with a head that moves. */

/** First in, first out; one item may be put back in front. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes the oldest; undefined when empty. */
  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#head += 1;
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Puts one item before all others. */
  unshift(item: T): void {
    if (this.#head === 0) this.#items.unshift(item);
    else this.#items[(this.#head -= 1)] = item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
