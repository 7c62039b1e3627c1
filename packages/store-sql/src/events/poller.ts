import type { Clock, EventScope, RunKey } from '@allium/core'
import type { EventTable, RunHead, StoredBatch } from './event-table.ts'
import { isIn, runName } from './run-name.ts'

/** Milliseconds between one look and the next: the first after something came, and the longest while nothing comes. */
const pauses = { shortest: 10, longest: 60 }

/** Who wants to know how a run stands. */
export interface Watcher {
  readonly run: RunKey
  /** Whether looking for it may end with the process. */
  readonly idle: boolean
  /** Told how it stands at each look, undefined where it is not there; true: it was waited for. */
  see(head: RunHead | undefined): boolean
  /** Told what this process has appended itself. */
  hear?(appended: Appended): void
  /** The store could not be asked. */
  fail(error: unknown): void
}

/** Where a run stands to which this process has appended. */
export interface Appended {
  readonly seq: number
  readonly ended: boolean
  /** Of its last signal and newest listener, where the append has told. */
  readonly asked?: number | undefined
  readonly listener?: number | undefined
  /** What came just now. */
  readonly batch?: StoredBatch | undefined
}

/**
 * Looks at all runs that somebody in this process waits for, with one question, and more seldom while nothing comes: no connection
 * is held, and nobody is told by the database. Nothing is asked while nobody waits, and what this process appends is told without a
 * question.
 */
export class Poller {
  readonly #table: EventTable
  readonly #clock: Pick<Clock, 'after'>
  readonly #watchers = new Map<string, Set<Watcher>>()
  /** Where the open runs stand to which this process appends. */
  readonly #appended = new Map<string, Appended>()
  /** Those of which an append has told all since the last look: the next leaves them out. */
  readonly #fresh = new Set<string>()
  #pause = pauses.shortest
  #next: { cancel(): void; idle: boolean } | undefined
  #looking = false

  constructor(table: EventTable, clock: Pick<Clock, 'after'>) {
    this.#table = table
    this.#clock = clock
  }

  add(watcher: Watcher): void {
    const name = runName(watcher.run)
    const of = this.#watchers.get(name) ?? new Set()
    this.#watchers.set(name, of.add(watcher))
    const appended = watcher.hear && this.#appended.get(name)
    if (appended !== undefined) watcher.hear?.(appended)
    else this.nudge(watcher.run)
    if (of.has(watcher)) this.#schedule(watcher.idle)
  }

  delete(watcher: Watcher): void {
    const name = runName(watcher.run)
    const of = this.#watchers.get(name)
    of?.delete(watcher)
    if (of?.size === 0) this.#watchers.delete(name)
    if (this.#watchers.size === 0) this.#unschedule()
  }

  /** Something may have come to the run: looks at it now. */
  nudge(run: RunKey): void {
    const watchers = [...(this.#watchers.get(runName(run)) ?? [])]
    if (watchers.length === 0) return
    this.#pause = pauses.shortest
    void this.#ask(watchers)
  }

  /** This process has appended to the run. */
  appended(run: RunKey, appended: Appended): void {
    const name = runName(run)
    const { seq, ended, asked, listener } = appended
    if (ended) this.#appended.delete(name)
    else this.#appended.set(name, { seq, ended })
    const head = asked === undefined || listener === undefined ? undefined : { seq, ended, asked, listener }
    if (head !== undefined) this.#fresh.add(name)
    for (const watcher of [...(this.#watchers.get(name) ?? [])])
      if (watcher.hear !== undefined) watcher.hear(appended)
      else if (head !== undefined) watcher.see(head)
  }

  /** The run goes on elsewhere. */
  lost(run: RunKey): void {
    this.#appended.delete(runName(run))
  }

  /** The runs are deleted: who waits for them finds nothing. */
  deleted(of: EventScope): void {
    for (const name of this.#appended.keys()) if (isIn(of, name)) this.#appended.delete(name)
    for (const [name, watchers] of this.#watchers)
      if (isIn(of, name)) for (const watcher of watchers) watcher.see(undefined)
  }

  /** What holds the process is waited for by a timer that does. */
  #schedule(idle: boolean): void {
    if (this.#looking || (this.#next !== undefined && (idle || !this.#next.idle))) return
    this.#unschedule()
    const cancel = this.#clock.after(this.#pause, () => void this.#look(), { idle })
    this.#next = { cancel, idle }
  }

  #unschedule(): void {
    this.#next?.cancel()
    this.#next = undefined
  }

  async #look(): Promise<void> {
    this.#next = undefined
    this.#looking = true
    const asked = [...this.#watchers].flatMap(([name, of]) => (this.#fresh.has(name) ? [] : [...of]))
    this.#fresh.clear()
    const came = asked.length > 0 && (await this.#ask(asked))
    this.#looking = false
    this.#pause = came ? pauses.shortest : Math.min(this.#pause * 1.5, pauses.longest)
    if (this.#watchers.size === 0) return
    this.#schedule([...this.#watchers.values()].every((of) => [...of].every(({ idle }) => idle)))
  }

  /** Whether something came that somebody waited for. */
  async #ask(watchers: readonly Watcher[]): Promise<boolean> {
    const names = watchers.map(({ run }) => runName(run))
    const runs = new Map(watchers.map(({ run }, i) => [names[i] as string, run]))
    const waits = (watcher: Watcher, i: number) => this.#watchers.get(names[i] as string)?.has(watcher) === true
    try {
      const heads = await this.#table.heads([...runs.values()])
      const byName = new Map([...runs.keys()].map((name, i) => [name, heads[i]]))
      let came = false
      for (const [i, watcher] of watchers.entries())
        if (waits(watcher, i) && watcher.see(byName.get(names[i] as string))) came = true
      return came
    } catch (error) {
      for (const [i, watcher] of watchers.entries()) if (waits(watcher, i)) watcher.fail(error)
      return false
    }
  }
}
