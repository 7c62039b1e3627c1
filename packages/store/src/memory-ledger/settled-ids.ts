/**
 * Settled ids with their accounts, each kept for `time` to twice `time`. There are two generations, and the older one is dropped as a
 * whole. So it stores no timestamp per id and never scans.
 */
export class SettledIds {
  readonly #time: number
  readonly #most: number
  /** The account of an id, or all accounts that use the same id. */
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
