import { AlliumError, type Clock, systemClock } from '@allium/core'
import type { EventLog, EventScope, RunKey, RunSignal } from '@allium/store'
import type { Blobs } from '../blobs/blobs.ts'
import { checkKey, checkName } from '../key.ts'
import type { Sealer } from '../sealer.ts'
import { EventSealer, type SealedBatch } from './event-sealer.ts'
import type { AppendOutcome, EventBatch, EventTable, StoredBatch, StoredSignal } from './event-table.ts'
import { Poller } from './poller.ts'
import { readRun } from './reader.ts'
import { checkRun, memoizeCheck, runName } from './run-key.ts'
import { SignalListener } from './signal-listener.ts'

/** The default time that a run's events are kept after its end, in milliseconds. */
export const hour = 3_600_000

/** Returns an event log in a database that all processes poll. Readers and listeners receive appended events within 100 ms. */
export function polledEventLog(
  table: EventTable,
  sealer: Sealer,
  clock: Pick<Clock, 'after'> = systemClock,
  { checkKeyOfRun = checkRun, blobs }: { checkKeyOfRun?: (run: RunKey) => RunKey; blobs?: Blobs } = {},
): EventLog {
  const check = memoizeCheck(checkKeyOfRun)
  const sealed = new EventSealer(sealer, blobs)
  const poller = new Poller(table, clock)
  const sources = { table, sealer: sealed, poller }
  const runExclusive = keyedMutex()
  /** The numbers of listeners that came with the opening of a run. */
  const firstListeners = new Map<string, number>()
  return {
    async append(runKey, epoch, events, { end = false, mustExist = false, by } = {}) {
      const run = check(runKey)
      const sealing = sealed.sealBatch(run, events)
      if (sealing instanceof Promise) sealing.catch(() => {})
      const name = runName(run)
      return runExclusive(name, async () => {
        const batch = sealing instanceof Promise ? await sealing : sealing
        const request = batch?.id ?? crypto.randomUUID()
        const outcome = await append(run, epoch, batch, { end, mustExist, request, by })
        if (outcome.fenced !== undefined) {
          poller.forget(run)
          firstListeners.delete(name)
          throw fencedRun(run, outcome.fenced)
        }
        if (outcome.undelivered !== undefined)
          return { undelivered: await acknowledgeAll(run, epoch, outcome.undelivered) }
        const { seq, lastSignal, listener, opened } = outcome
        if (opened === true && listener !== undefined && !end) firstListeners.set(name, listener)
        if (end) firstListeners.delete(name)
        poller.appended(run, { seq, lastSignal, listener, ended: end, batch: batch && toStoredBatch(batch, seq) })
        return { seq }
      })
    },
    read: (run, after, signal) => readRun(sources, check(run), after, signal),
    latest: async (key) => table.latest(checkKey({ ...key })),
    async signal(runKey, signal) {
      const run = check(runKey)
      const id = signal.id === undefined ? null : checkName('id of the signal', signal.id)
      const accepted = await table.addSignal(run, id, await sealed.sealSignal(run, signal))
      poller.pollNow(run)
      return accepted
    },
    async onSignal(runKey, fn) {
      const run = check(runKey)
      const name = runName(run)
      const first = firstListeners.get(name)
      firstListeners.delete(name)
      const number = first ?? (await table.listen(run))
      if (number === undefined) throw runNotOpened(run)
      const listener = new SignalListener(sources, run, { number, isNew: first !== undefined }, fn)
      return () => listener.stop()
    },
    async delete(scope) {
      const checkedScope = checkScope(scope)
      await table.delete(checkedScope)
      poller.deleted(checkedScope)
    },
  }

  async function append(
    run: RunKey,
    epoch: number,
    batch: SealedBatch | undefined,
    options: Parameters<EventTable['append']>[3],
  ): Promise<AppendOutcome> {
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

  /** Acknowledges signals only after all were opened, so that none is lost while one cannot be opened. */
  async function acknowledgeAll(run: RunKey, epoch: number, stored: readonly StoredSignal[]): Promise<RunSignal[]> {
    const signals = await Promise.all(stored.map((one) => sealed.openSignal(run, one)))
    const numbers = stored.map(({ n }) => n)
    if (!(await table.acknowledgeAtEnd(run, epoch, numbers))) {
      poller.forget(run)
      throw fencedRun(run, 'taken')
    }
    return signals.filter((signal) => signal !== undefined)
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

const fenceReasons = {
  ended: 'it has ended',
  taken: 'another process has taken it over',
  gone: 'it was deleted, or has expired',
}

function fencedRun({ key, turnId }: RunKey, why: keyof typeof fenceReasons): AlliumError {
  const reason = fenceReasons[why]
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" accepts no more events from this process: ${reason}. Nothing was stored.`,
  )
}

function runNotOpened({ key, turnId }: RunKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" is not in the event log: it was never opened, or it was deleted or has expired. Open it with an append first.`,
  )
}
