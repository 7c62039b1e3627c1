/** Recordings are input from outside, so their reasons are limited in number and length. */
const [mostReasons, longest] = [100, 200]

/** Counts by reason. */
export class Reasons {
  readonly #counts = new Map<string, number>()

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }

  add(reason: string): void {
    const cut = reason.slice(0, longest)
    const key = this.#counts.has(cut) || this.#counts.size < mostReasons ? cut : 'other reasons'
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }
}
