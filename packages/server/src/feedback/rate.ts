import type { Clock } from '@allium/core'
import type { MakeRateCounter, RateCounter } from '@allium/store'
import { requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'

/** Most people whose requests one process counts. The one whose last request is the oldest is forgotten first. */
const maxPeople = 10_000

/** Milliseconds in which the requests of a person are counted. */
const window = 60_000

/** How often a person may change something. */
export class Rate {
  readonly #perMinute: number
  readonly #what: string
  readonly #counter: Pick<RateCounter, 'consume'>

  /**
   * @param limits counts in all processes @default counts in this one
   * @param what the name of the counter
   */
  constructor(perMinute: number, clock: Clock, limits: MakeRateCounter | undefined, what: string) {
    this.#perMinute = perMinute
    this.#what = what
    const settings = { keyPrefix: `allium:${what}`, points: perMinute, duration: window / 1000 }
    this.#counter = limits?.(settings) ?? inProcess(perMinute, clock)
  }

  /** @throws AlliumError `server.limit`; `store.unavailable` if the counter fails */
  async consume({ tenant, owner }: Caller): Promise<void> {
    try {
      await this.#counter.consume(JSON.stringify([tenant, owner]))
    } catch (error) {
      if (typeof (error as { msBeforeNext?: unknown } | undefined)?.msBeforeNext === 'number')
        throw requestError(
          'server.limit',
          `You have changed ${this.#what} ${this.#perMinute} times in a minute, which is the limit. Try again in a moment.`,
        )
      throw requestError(
        'store.unavailable',
        `The counter of ${this.#what} failed, so the change was not stored. Try again.`,
      )
    }
  }
}

function inProcess(points: number, clock: Clock): Pick<RateCounter, 'consume'> {
  const requests = new Map<string, number[]>()
  return {
    async consume(person) {
      const now = clock.now()
      const recent = (requests.get(person) ?? []).filter((at) => at > now - window)
      const [oldest] = recent
      if (recent.length >= points) throw { msBeforeNext: (oldest ?? now) + window - now }
      requests.delete(person)
      requests.set(person, [...recent, now])
      for (const forgotten of requests.keys()) {
        if (requests.size <= maxPeople) return
        requests.delete(forgotten)
      }
    },
  }
}
