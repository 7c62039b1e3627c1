/**
 * Ids that were settled, each with its account: for a time at least, and twice that at the most. In two generations, the
 * older of which goes as a whole: nothing is kept beside an id, and nothing is searched.
 */
export class SettledIds {
  readonly #time: number
  readonly #most: number
  /** An account; where two have the same id, all of them. */
  #recent = new Map<string, string | string[]>()
  #older = new Map<string, string | string[]>()
  #since = Number.NEGATIVE_INFINITY

  constructor(time: number, most: number) {
    this.#time = time
    this.#most = most
  }

  has(id: string, account: string, now: number): boolean {
    this.#turn(now)
    return isOf(this.#recent.get(id), account) || isOf(this.#older.get(id), account)
  }

  add(id: string, account: string, now: number): void {
    this.#turn(now)
    const before = this.#recent.get(id)
    this.#recent.set(id, before === undefined ? account : [before, account].flat())
  }

  #turn(now: number): void {
    const age = now - this.#since
    if (age < this.#time && this.#recent.size * 2 < this.#most) return
    this.#older = age < 2 * this.#time ? this.#recent : new Map()
    this.#recent = new Map()
    this.#since = now
  }
}

function isOf(found: string | string[] | undefined, account: string): boolean {
  return typeof found === 'string' ? found === account : found?.includes(account) === true
}
