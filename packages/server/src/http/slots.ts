import type { Holder } from './fair-share.ts'

/** Lets a few tasks run at once. The others wait, and users take turns. For reads that need much memory. */
export class Slots {
  readonly #waiting = new Map<string, (() => void)[]>()
  #free: number

  constructor(size: number) {
    this.#free = size
  }

  async run<T>({ tenant, owner }: Holder, task: () => Promise<T>): Promise<T> {
    const user = JSON.stringify([tenant, owner])
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.set(user, [...(this.#waiting.get(user) ?? []), resolve]))
    try {
      return await task()
    } finally {
      const resume = this.#next()
      if (resume === undefined) this.#free++
      else resume()
    }
  }

  /** Removes the first task of the user whose turn it is. */
  #next(): (() => void) | undefined {
    for (const [user, [first, ...others]] of this.#waiting) {
      this.#waiting.delete(user)
      if (others.length > 0) this.#waiting.set(user, others)
      return first
    }
    return undefined
  }
}
