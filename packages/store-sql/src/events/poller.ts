import type { Clock, EventScope, RunKey } from '@allium/core'
import type { EventTable, RunHead, StoredBatch } from './event-table.ts'
import { isInScope, runName } from './run-key.ts'

/** Milliseconds between one look and the next: the first after something came, and the longest while nothing comes. */
const pollInterval = { shortest: 10, longest: 60 }

/** Who wants to know how a run stands. */
export interface HeadObserver {
  readonly run: RunKey
  /** Whether looking for it may end with the process. */
  readonly idle: boolean
  /** Told how it stands at each look, undefined where it is not there; true: it was waited for. */
  onHead(head: RunHead | undefined): boolean
  /** Told what this process has appended itself. */
  onAppend?(appended: AppendedHead): void
  /** The store could not be asked. */
  onError(error: unknown): void
}

/** Where a run stands to which this process has appended. */
export interface AppendedHead {
  readonly seq: number
  readonly ended: boolean
  /** Of its last signal and newest listener, where the append has told. */
  readonly lastSignal?: number | undefined
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
  readonly #observers = new Map<string, Set<HeadObserver>>()
  /** Where the open runs stand to which this process appends. */
  readonly #appended = new Map<string, AppendedHead>()
  /** Those of which an append has told all since the last look: the next leaves them out. */
  readonly #upToDate = new Set<string>()
  #interval = pollInterval.shortest
  #timer: { cancel(): void; idle: boolean } | undefined
  #polling = false

  constructor(table: EventTable, clock: Pick<Clock, 'after'>) {
    this.#table = table
    this.#clock = clock
  }

  add(observer: HeadObserver): void {
    const name = runName(observer.run)
    const observersOfRun = this.#observers.get(name) ?? new Set()
    this.#observers.set(name, observersOfRun.add(observer))
    const appended = observer.onAppend && this.#appended.get(name)
    if (appended !== undefined) observer.onAppend?.(appended)
    else this.pollNow(observer.run)
    if (observersOfRun.has(observer)) this.#schedule(observer.idle)
  }

  delete(observer: HeadObserver): void {
    const name = runName(observer.run)
    const observersOfRun = this.#observers.get(name)
    observersOfRun?.delete(observer)
    if (observersOfRun?.size === 0) this.#observers.delete(name)
    if (this.#observers.size === 0) this.#unschedule()
  }

  /** Something may have come to the run: looks at it now. */
  pollNow(run: RunKey): void {
    const observers = [...(this.#observers.get(runName(run)) ?? [])]
    if (observers.length === 0) return
    this.#interval = pollInterval.shortest
    void this.#readHeads(observers)
  }

  /** This process has appended to the run. */
  appended(run: RunKey, appended: AppendedHead): void {
    const name = runName(run)
    const { seq, ended, lastSignal, listener } = appended
    if (ended) this.#appended.delete(name)
    else this.#appended.set(name, { seq, ended })
    const head = lastSignal === undefined || listener === undefined ? undefined : { seq, ended, lastSignal, listener }
    if (head !== undefined) this.#upToDate.add(name)
    for (const observer of [...(this.#observers.get(name) ?? [])])
      if (observer.onAppend !== undefined) observer.onAppend(appended)
      else if (head !== undefined) observer.onHead(head)
  }

  /** The run goes on elsewhere. */
  forget(run: RunKey): void {
    this.#appended.delete(runName(run))
  }

  /** The runs are deleted: who waits for them finds nothing. */
  deleted(scope: EventScope): void {
    for (const name of this.#appended.keys()) if (isInScope(scope, name)) this.#appended.delete(name)
    for (const [name, observers] of this.#observers)
      if (isInScope(scope, name)) for (const observer of observers) observer.onHead(undefined)
  }

  /** What holds the process is waited for by a timer that does. */
  #schedule(idle: boolean): void {
    if (this.#polling || (this.#timer !== undefined && (idle || !this.#timer.idle))) return
    this.#unschedule()
    const cancel = this.#clock.after(this.#interval, () => void this.#poll(), { idle })
    this.#timer = { cancel, idle }
  }

  #unschedule(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  async #poll(): Promise<void> {
    this.#timer = undefined
    this.#polling = true
    const due = [...this.#observers].flatMap(([name, of]) => (this.#upToDate.has(name) ? [] : [...of]))
    this.#upToDate.clear()
    const hasNews = due.length > 0 && (await this.#readHeads(due))
    this.#polling = false
    this.#interval = hasNews ? pollInterval.shortest : Math.min(this.#interval * 1.5, pollInterval.longest)
    if (this.#observers.size === 0) return
    this.#schedule([...this.#observers.values()].every((of) => [...of].every(({ idle }) => idle)))
  }

  /** Whether something came that somebody waited for. */
  async #readHeads(observers: readonly HeadObserver[]): Promise<boolean> {
    const names = observers.map(({ run }) => runName(run))
    const runs = new Map(observers.map(({ run }, i) => [names[i] as string, run]))
    const isObserving = (observer: HeadObserver, i: number) =>
      this.#observers.get(names[i] as string)?.has(observer) === true
    try {
      const heads = await this.#table.heads([...runs.values()])
      const byName = new Map([...runs.keys()].map((name, i) => [name, heads[i]]))
      let hasNews = false
      for (const [i, observer] of observers.entries())
        if (isObserving(observer, i) && observer.onHead(byName.get(names[i] as string))) hasNews = true
      return hasNews
    } catch (error) {
      for (const [i, observer] of observers.entries()) if (isObserving(observer, i)) observer.onError(error)
      return false
    }
  }
}
