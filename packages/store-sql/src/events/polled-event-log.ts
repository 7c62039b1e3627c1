import { type AlliumError, type Clock, systemClock } from '@allium/core'
import {
  type EventLog,
  type EventReader,
  type EventScope,
  eventsFenced,
  type Logged,
  type RunKey,
  type RunSignal,
  runNotOpened,
} from '@allium/store'
import type { Blobs } from '../blobs/blobs.ts'
import { checkKey, checkName } from '../key.ts'
import type { Sealer } from '../sealer.ts'
import { EventSealer, type SealedBatch } from './event-sealer.ts'
import type { AppendOutcome, EventBatch, EventTable, StoredBatch, StoredSignal } from './event-table.ts'
import { Poller } from './poller.ts'
import { type ReaderSources, readRun } from './reader.ts'
import { checkRun, memoizeCheck, runName } from './run-key.ts'
import { SignalListener } from './signal-listener.ts'

/** The default time that a run's events are kept after its end, in milliseconds. */
export const hour = 3_600_000

/** The outcome of an append that was not refused. */
type AppendedRun = Extract<AppendOutcome, { seq: number }>

/** How a database differs from others as an event log. */
interface Settings {
  checkKeyOfRun?: (run: RunKey) => RunKey
  blobs?: Blobs
}

/** Returns an event log in a database that all processes poll. Readers and listeners receive appended events within 100 ms. */
export function polledEventLog(
  table: EventTable,
  sealer: Sealer,
  clock: Pick<Clock, 'after'> = systemClock,
  settings: Settings = {},
): EventLog {
  const log = new PolledEventLog(table, sealer, clock, settings)
  return {
    append: (...args) => log.append(...args),
    read: (run, after, signal) => log.read(run, after, signal),
    latest: async (key) => table.latest(checkKey({ ...key })),
    signal: (run, signal) => log.signal(run, signal),
    onSignal: (run, fn) => log.onSignal(run, fn),
    delete: (scope) => log.delete(scope),
  }
}

class PolledEventLog {
  readonly #table: EventTable
  readonly #sealer: EventSealer
  readonly #poller: Poller
  readonly #blobs: Blobs | undefined
  readonly #check: (run: RunKey) => RunKey
  readonly #runExclusive = keyedMutex()
  /** The numbers of listeners that came with the opening of a run. */
  readonly #firstListeners = new Map<string, number>()

  constructor(
    table: EventTable,
    sealer: Sealer,
    clock: Pick<Clock, 'after'>,
    { checkKeyOfRun = checkRun, blobs }: Settings,
  ) {
    this.#table = table
    this.#sealer = new EventSealer(sealer, blobs)
    this.#poller = new Poller(table, clock)
    this.#blobs = blobs
    this.#check = memoizeCheck(checkKeyOfRun)
  }

  async append(...[runKey, epoch, events, options = {}]: Parameters<EventLog['append']>): Promise<Logged> {
    const { end = false, mustExist = false, by } = options
    const run = this.#check(runKey)
    const sealing = this.#sealer.sealBatch(run, events)
    if (sealing instanceof Promise) sealing.catch(() => {})
    return this.#runExclusive(runName(run), async () => {
      const batch = sealing instanceof Promise ? await sealing : sealing
      const request = batch?.id ?? crypto.randomUUID()
      const outcome = await this.#append(run, epoch, batch, { end, mustExist, request, by })
      if (outcome.fenced !== undefined) {
        this.#firstListeners.delete(runName(run))
        throw this.#fenced(run, outcome.fenced)
      }
      if (outcome.undelivered === undefined) return this.#appended(run, batch, end, outcome)
      return { undelivered: await this.#acknowledgeAll(run, epoch, outcome.undelivered) }
    })
  }

  read(run: RunKey, after: number, signal?: AbortSignal): EventReader {
    return readRun(this.#sources, this.#check(run), after, signal)
  }

  async signal(runKey: RunKey, signal: RunSignal): Promise<boolean> {
    const run = this.#check(runKey)
    const id = signal.id === undefined ? null : checkName('id of the signal', signal.id)
    const isAccepted = await this.#table.addSignal(run, id, await this.#sealer.sealSignal(run, signal))
    this.#poller.pollNow(run)
    return isAccepted
  }

  async onSignal(runKey: RunKey, fn: Parameters<EventLog['onSignal']>[1]): Promise<() => void> {
    const run = this.#check(runKey)
    const name = runName(run)
    const first = this.#firstListeners.get(name)
    this.#firstListeners.delete(name)
    const number = first ?? (await this.#table.listen(run))
    if (number === undefined) throw runNotOpened(run)
    const listener = new SignalListener(this.#sources, run, { number, isNew: first !== undefined }, fn)
    return () => listener.stop()
  }

  async delete(scope: EventScope): Promise<void> {
    const checkedScope = checkScope(scope)
    await this.#table.delete(checkedScope)
    this.#poller.deleted(checkedScope)
  }

  get #sources(): ReaderSources {
    return { table: this.#table, sealer: this.#sealer, poller: this.#poller }
  }

  async #append(
    run: RunKey,
    epoch: number,
    batch: SealedBatch | undefined,
    options: Parameters<EventTable['append']>[3],
  ): Promise<AppendOutcome> {
    const table = this.#table
    const blobs = this.#blobs
    if (blobs === undefined || !batch?.cuts.size) return table.append(run, epoch, batch, options)
    // Opens the run first, so that no bytes are written for a deleted run or one that another process owns.
    const opened = await table.append(run, epoch, undefined, { ...options, end: false, request: crypto.randomUUID() })
    if (!('seq' in opened)) return opened
    return blobs.write(run, batch.cuts, async (write) => {
      const outcome = await table.append(run, epoch, batch, { ...options, mustExist: true, write })
      if (write !== undefined && !('seq' in outcome)) await blobs.drop(write)
      return outcome
    })
  }

  #appended(run: RunKey, batch: EventBatch | undefined, ended: boolean, head: AppendedRun): Logged {
    const { seq, lastSignal, listener, opened } = head
    const name = runName(run)
    if (opened === true && listener !== undefined && !ended) this.#firstListeners.set(name, listener)
    if (ended) this.#firstListeners.delete(name)
    this.#poller.appended(run, { seq, lastSignal, listener, ended, batch: batch && toStoredBatch(batch, seq) })
    return { seq }
  }

  /** Acknowledges signals only after all were opened, so that none is lost while one cannot be opened. */
  async #acknowledgeAll(run: RunKey, epoch: number, stored: readonly StoredSignal[]): Promise<RunSignal[]> {
    const signals = await Promise.all(stored.map((one) => this.#sealer.openSignal(run, one)))
    const numbers = stored.map(({ n }) => n)
    if (!(await this.#table.acknowledgeAtEnd(run, epoch, numbers))) throw this.#fenced(run, 'taken')
    return signals.filter((signal) => signal !== undefined)
  }

  #fenced(run: RunKey, why: 'ended' | 'taken' | 'gone'): AlliumError {
    this.#poller.forget(run)
    return eventsFenced(run, why)
  }
}

/** Returns the batch that ends at a position. */
function toStoredBatch({ id, count, body }: EventBatch, seq: number): StoredBatch {
  return { id, count, body, first: seq - count + 1 }
}

/** Runs tasks with the same name one after the other, in order. */
function keyedMutex() {
  const tails = new Map<string, Promise<unknown>>()
  return <T>(name: string, task: () => Promise<T>): Promise<T> => {
    const previous = tails.get(name)
    const pending = previous === undefined ? task() : previous.then(task, task)
    tails.set(name, pending)
    const cleanup = () => tails.get(name) === pending && tails.delete(name)
    pending.then(cleanup, cleanup)
    return pending
  }
}

/** Returns a copy. @throws AlliumError `store.key` */
function checkScope(scope: EventScope): EventScope {
  if ('sessionId' in scope) {
    const { tenant, owner, agent, sessionId } = scope
    return checkKey({ tenant, owner, agent, sessionId })
  }
  const tenant = checkName('tenant', scope.tenant)
  return scope.owner === undefined ? { tenant } : { tenant, owner: checkName('owner', scope.owner) }
}
