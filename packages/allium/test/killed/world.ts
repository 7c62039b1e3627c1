import { AsyncLocalStorage } from 'node:async_hooks'
import type { Emit, Journal } from '@allium/core'
import { memoryLedger } from '@allium/store'
import { type MemoryJournal, memoryJournal } from '@allium/store/journal'
import * as model from '../../src/model.ts'

interface Deed {
  readonly key: string
  readonly step: string | undefined
  readonly process: number
}

/** Where the session's calls are charged. A sub-agent that begins after midnight is charged to its own day. */
export const accounts = ['1970-01-01', '1970-01-02'].map((day) => `["guard:budget","t","u","s","${day}"]`)

/** One for all worlds: each more is asked at each promise. */
const within = new AsyncLocalStorage<string>()

/** What outlives a process: what was done to the outside, and the stores that processes share. */
export class World {
  readonly ledger = memoryLedger()
  readonly values = model.memoryKeyValue()
  readonly audit = new Records()
  /** What calls were posted as that a kill had cut. */
  cut = 0
  #deeds: Deed[] = []
  #process = 0
  #journal: MemoryJournal = memoryJournal()
  #limit = Number.POSITIVE_INFINITY

  /** The journal of the process that runs. */
  get journal(): Journal {
    const journal = this.#journal
    return {
      known: (id) => journal.known?.(id) ?? false,
      step: <T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>) =>
        journal.step<T, C>(id, (keep) => within.run(id, () => work(keep)), emit),
    }
  }
  /** Notes what the process that runs now does; it is noted no more once that is dead. */
  get deeds(): (key: string) => Promise<number> {
    const process = this.#process
    return (key) => this.#did(key, process)
  }
  get recorded(): readonly string[] {
    return this.#journal.recorded
  }

  killAfter(steps: number): Promise<void> {
    this.#limit = steps
    return this.#journal.killAfter(steps)
  }

  /** Another process goes on. What the dead one had begun, and did not record, counts as not done. */
  reboot(): void {
    const recorded = new Set(this.recorded)
    this.#deeds = this.#deeds.filter(({ step }) => step === undefined || recorded.has(step))
    this.#journal = this.#journal.reopen()
    this.#limit = Number.POSITIVE_INFINITY
    this.#process++
  }

  /** Something is done for the so many-th time. In a dead process nothing is. */
  async #did(key: string, process: number): Promise<number> {
    if (process !== this.#process || this.recorded.length >= this.#limit) await new Promise(() => {})
    const before = this.#deeds.filter((deed) => deed.key === key).length
    this.#deeds.push({ key, step: within.getStore(), process })
    return before
  }

  /** What was done so far counts no more. */
  forget(): void {
    this.#deeds = []
  }

  /** How often each thing was done, by all processes or one. */
  counts(process?: number): Map<string, number> {
    const counts = new Map<string, number>()
    for (const deed of this.#deeds)
      if (process === undefined || deed.process === process) counts.set(deed.key, (counts.get(deed.key) ?? 0) + 1)
    return counts
  }
}

/** Takes each record once, by its key. */
class Records {
  readonly lines: string[] = []
  readonly #keys = new Set<string>()

  append(line: string, key: string): 'known' | undefined {
    if (this.#keys.has(key)) return 'known'
    this.#keys.add(key)
    this.lines.push(line)
    return undefined
  }
}
