import type { Clock, RunKey } from '@allium/core'
import type { EventTable, RunHead } from './event-table.ts'
import { runName } from './run-name.ts'

/** Milliseconds between one look and the next: the first after something came, and the longest while nothing comes. */
const pauses = { shortest: 10, longest: 60 }

/** Who wants to know how a run stands. */
export interface Watcher {
  readonly run: RunKey
  /** Whether looking for it may end with the process. */
  readonly idle: boolean
  /** Told how it stands at each look, undefined where it is not there; true: it was waited for. */
  see(head: RunHead | undefined): boolean
  /** The store could not be asked. */
  fail(error: unknown): void
}

/**
 * Looks at all runs that somebody in this process waits for, with one question, and more seldom while nothing comes: no connection
 * is held, and nobody is told by the database. Nothing is asked while nobody waits.
 */
export class Poller {
  readonly #table: EventTable
  readonly #clock: Pick<Clock, 'after'>
  readonly #watchers = new Set<Watcher>()
  #pause = pauses.shortest
  #cancel: (() => void) | undefined
  /** `again`: somebody came, or something happened, while it was asked. */
  #asking: 'no' | 'yes' | 'again' = 'no'

  constructor(table: EventTable, clock: Pick<Clock, 'after'>) {
    this.#table = table
    this.#clock = clock
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher)
    this.nudge()
  }

  delete(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    if (this.#watchers.size === 0) this.#cancel?.()
  }

  /** Something may have come: looks now. */
  nudge(): void {
    if (this.#watchers.size === 0) return
    this.#pause = pauses.shortest
    if (this.#asking !== 'no') this.#asking = 'again'
    else void this.#look()
  }

  async #look(): Promise<void> {
    this.#cancel?.()
    this.#asking = 'yes'
    const came = await this.#ask()
    const again = (this.#asking as string) === 'again'
    this.#asking = 'no'
    if (this.#watchers.size === 0) return
    if (again) return void this.#look()
    this.#pause = came ? pauses.shortest : Math.min(this.#pause * 1.5, pauses.longest)
    const idle = [...this.#watchers].every((watcher) => watcher.idle)
    this.#cancel = this.#clock.after(this.#pause, () => void this.#look(), { idle })
  }

  /** Whether something came that somebody waited for. */
  async #ask(): Promise<boolean> {
    const watchers = [...this.#watchers]
    const runs = new Map(watchers.map(({ run }) => [runName(run), run]))
    try {
      const heads = await this.#table.heads([...runs.values()])
      const byName = new Map([...runs.keys()].map((name, i) => [name, heads[i]]))
      const waiting = watchers.filter((watcher) => this.#watchers.has(watcher))
      return waiting.map((watcher) => watcher.see(byName.get(runName(watcher.run)))).includes(true)
    } catch (error) {
      for (const watcher of watchers) if (this.#watchers.has(watcher)) watcher.fail(error)
      return false
    }
  }
}
