/** Numbers, choices and chances that are the same again for a seed: mulberry32. */
export class Random {
  #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  next(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0
    let t = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  below(count: number): number {
    return Math.floor(this.next() * count)
  }

  chance(of: number): boolean {
    return this.next() < of
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}
