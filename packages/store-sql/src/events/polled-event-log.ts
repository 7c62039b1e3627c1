import {
  AlliumError,
  type Clock,
  type EventLog,
  type EventScope,
  type RunKey,
  type RunSignal,
  systemClock,
} from '@allium/core'
import type { Blobs } from '../blobs/blobs.ts'
import { checkKey, checkName } from '../key.ts'
import type { Sealer } from '../sealer.ts'
import { EventSealer, type SealedBatch } from './event-sealer.ts'
import type { AppendOutcome, AskedSignal, EventBatch, EventTable, StoredBatch } from './event-table.ts'
import { Listener } from './listener.ts'
import { Poller } from './poller.ts'
import { readRun } from './reader.ts'
import { checkedOnce, checkRun, runName } from './run-name.ts'

/** Milliseconds that the events of a run are kept after its end, unless options say it. */
export const hour = 3_600_000

/** An event log in a database that all its processes look into: what they append comes to readers and listeners within 100 ms. */
export function polledEventLog(
  table: EventTable,
  sealer: Sealer,
  clock: Pick<Clock, 'after'> = systemClock,
  { checkKeyOf = checkRun, blobs }: { checkKeyOf?: (run: RunKey) => RunKey; blobs?: Blobs } = {},
): EventLog {
  const check = checkedOnce(checkKeyOf)
  const sealed = new EventSealer(sealer, blobs)
  const poller = new Poller(table, clock)
  const sources = { table, sealer: sealed, poller }
  const inOrder = turnTaking()
  return {
    async append(given, epoch, events, { end = false, mustExist = false, by } = {}) {
      const run = check(given)
      const sealing = sealed.batch(run, events)
      if (sealing instanceof Promise) sealing.catch(() => {})
      const name = runName(run)
      return inOrder(name, async () => {
        const batch = sealing instanceof Promise ? await sealing : sealing
        const request = batch?.id ?? crypto.randomUUID()
        const outcome = await append(run, epoch, batch, { end, mustExist, request, by })
        if (outcome.fenced !== undefined) {
          poller.lost(run)
          throw refused(run, outcome.fenced)
        }
        if (outcome.unheard !== undefined) return { unheard: await taken(run, epoch, outcome.unheard) }
        const { seq, asked, listener } = outcome
        poller.appended(run, { seq, asked, listener, ended: end, batch: batch && placed(batch, seq) })
        return { seq }
      })
    },
    read: (run, after, signal) => readRun(sources, check(run), after, signal),
    latest: async (key) => table.latest(checkKey({ ...key })),
    async signal(given, signal) {
      const run = check(given)
      const id = signal.id === undefined ? null : checkName('id of the signal', signal.id)
      const kept = await table.ask(run, id, await sealed.signal(run, signal))
      poller.nudge(run)
      return kept
    },
    async onSignal(given, fn) {
      const run = check(given)
      const number = await table.listen(run)
      if (number === undefined) throw unopened(run)
      const listener = new Listener(sources, run, number, fn)
      return () => listener.stop()
    },
    async delete(given) {
      const of = checkScope(given)
      await table.delete(of)
      poller.deleted(of)
    },
  }

  async function append(
    run: RunKey,
    epoch: number,
    batch: SealedBatch | undefined,
    options: Parameters<EventTable['append']>[3],
  ): Promise<AppendOutcome> {
    if (blobs === undefined || !batch?.cuts.size) return table.append(run, epoch, batch, options)
    // Opened first: no bytes are written for a run that is gone, or that another process has.
    const opened = await table.append(run, epoch, undefined, { ...options, end: false, request: crypto.randomUUID() })
    if (!('seq' in opened)) return opened
    return blobs.write(run, batch.cuts, async (write) => {
      const outcome = await table.append(run, epoch, batch, { ...options, mustExist: true, write })
      if (write !== undefined && !('seq' in outcome)) await blobs.drop(write)
      return outcome
    })
  }

  /** They are taken once all of them were opened, so that none is lost while one cannot be opened. */
  async function taken(run: RunKey, epoch: number, asked: readonly AskedSignal[]): Promise<RunSignal[]> {
    const signals = await Promise.all(asked.map((one) => sealed.asked(run, one)))
    const numbers = asked.map(({ n }) => n)
    if (!(await table.take(run, epoch, numbers))) {
      poller.lost(run)
      throw refused(run, 'taken')
    }
    return signals.filter((signal) => signal !== undefined)
  }
}

/** A batch that ends at a place. */
function placed({ id, count, body }: EventBatch, seq: number): StoredBatch {
  return { id, count, body, first: seq - count + 1 }
}

/** Work of one name, one after the other in the order in which it came. */
function turnTaking() {
  const tails = new Map<string, Promise<unknown>>()
  return <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const before = tails.get(name)
    const doing = before === undefined ? work() : before.then(work, work)
    tails.set(name, doing)
    const over = () => tails.get(name) === doing && tails.delete(name)
    doing.then(over, over)
    return doing
  }
}

/** A copy. @throws AlliumError `store.key` */
function checkScope(of: EventScope): EventScope {
  if ('sessionId' in of) {
    const { tenant, owner, agent, sessionId } = of
    return checkKey({ tenant, owner, agent, sessionId })
  }
  const tenant = checkName('tenant', of.tenant)
  return of.owner === undefined ? { tenant } : { tenant, owner: checkName('owner', of.owner) }
}

const refusals = {
  ended: 'it has ended',
  taken: 'another process has taken it over',
  gone: 'it was deleted, or has expired',
}

function refused({ key, turnId }: RunKey, why: keyof typeof refusals): AlliumError {
  const told = refusals[why]
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" takes no more events from here: ${told}. Nothing was stored.`,
  )
}

function unopened({ key, turnId }: RunKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" is not in the event log: it was never opened, or it was deleted or has expired. Open it with an append first.`,
  )
}
