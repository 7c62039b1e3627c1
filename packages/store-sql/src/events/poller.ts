import type { Clock } from '@allium/core'
import type { EventScope, RunKey } from '@allium/store'
import type { EventTable, RunHead, StoredBatch } from './event-table.ts'
import { isInScope, runName } from './run-key.ts'

/** The delay between polls in milliseconds: the first after an event, and the longest while nothing arrives. */
const pollInterval = { shortest: 10, longest: 60 }

/** Observes the position of a run. */
export interface HeadObserver {
  readonly run: RunKey
  /** Whether polling for it must not keep the process alive. */
  readonly idle: boolean
  /** Whether it needs no poll when it is added, because this process has just opened the run. */
  readonly isNew?: boolean
  /** Receives the position at each poll; undefined if the run does not exist. Returns true if it was waiting for this. */
  onHead(head: RunHead | undefined): boolean
  /** Receives the appends of this process. */
  onAppend?(appended: AppendedHead): void
  /** Receives the error when the store cannot be queried. */
  onError(error: unknown): void
}

/** The position of a run to which this process has appended. */
export interface AppendedHead {
  readonly seq: number
  readonly ended: boolean
  /** Its last signal and newest listener, if the append returned them. */
  readonly lastSignal?: number | undefined
  readonly listener?: number | undefined
  /** The batch that was just appended. */
  readonly batch?: StoredBatch | undefined
}

/**
 * Polls all runs that this process observes with one query, and less often while nothing arrives. It holds no connection and needs
 * no notifications from the database. Without observers it does not poll, and appends of this process are delivered without a query.
 */
export class Poller {
  readonly #table: EventTable
  readonly #clock: Pick<Clock, 'after'>
  readonly #observers = new Map<string, Set<HeadObserver>>()
  /** The positions of open runs to which this process appends. */
  readonly #appended = new Map<string, AppendedHead>()
  /** Runs whose position is completely known from an append since the last poll; the next poll skips them. */
  readonly #upToDate = new Set<string>()
  #interval = pollInterval.longest
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
    else if (observer.isNew !== true) this.pollNow(observer.run)
    if (observersOfRun.has(observer)) this.#schedule(observer.idle)
  }

  delete(observer: HeadObserver): void {
    const name = runName(observer.run)
    const observersOfRun = this.#observers.get(name)
    observersOfRun?.delete(observer)
    if (observersOfRun?.size === 0) this.#observers.delete(name)
    if (this.#observers.size === 0) this.#unschedule()
  }

  /** Polls a run now, because something may have arrived. */
  pollNow(run: RunKey): void {
    const observers = [...(this.#observers.get(runName(run)) ?? [])]
    if (observers.length === 0) return
    this.#interval = pollInterval.shortest
    void this.#readHeads(observers)
  }

  /** Records an append of this process. */
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

  /** Forgets a run that continues in another process. */
  forget(run: RunKey): void {
    this.#appended.delete(runName(run))
  }

  /** Notifies the observers of deleted runs. */
  deleted(scope: EventScope): void {
    for (const name of this.#appended.keys()) if (isInScope(scope, name)) this.#appended.delete(name)
    for (const [name, observers] of this.#observers)
      if (isInScope(scope, name)) for (const observer of observers) observer.onHead(undefined)
  }

  /** Observers that keep the process alive need a timer that does, too. */
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

  /** Returns whether an observer was waiting for what arrived. */
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
