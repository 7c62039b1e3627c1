/** A queue with constant-time `shift()`. `Array.shift()` moves all remaining items of a long array. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  get last(): T | undefined {
    return this.#items.at(-1)
  }

  push(item: T): void {
    this.#items.push(item)
  }

  replaceLast(item: T): void {
    this.#items[this.#items.length - 1] = item
  }

  shift(): T | undefined {
    // The common case is a reader that keeps up. `pop()` keeps the array's allocation.
    if (this.#head === 0 && this.#items.length < 2) return this.#items.pop()
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.length === 0) this.clear()
    else if (this.#head > 1000 && this.#head > this.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  clear(): void {
    this.#items.length = 0
    this.#head = 0
  }
}
