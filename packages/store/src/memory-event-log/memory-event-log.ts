import { AlliumError, type Clock, type SessionKey, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { EventLog, EventScope, RunKey } from '../event-log.ts'
import { MemoryErasures } from '../memory-erasures.ts'
import { eventText } from '../plain-json.ts'
import { LoggedRun } from './logged-run.ts'

export interface MemoryEventLogOptions {
  clock?: Clock
  /** How long the events of a run are kept after its end, in milliseconds. @default 1 hour */
  eventTtl?: number
}

const known: KeysOf<MemoryEventLogOptions> = { clock: true, eventTtl: true }

/** Stores copies of run events in this process. For tests, and for servers with a single process. */
export function memoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  checkOptions(options, known, 'memoryEventLog()', 'options.invalid')
  const { clock = systemClock, eventTtl = 3_600_000 } = options
  const runs = new Map<string, LoggedRun>()
  const latest = new Map<string, LoggedRun>()
  /** The end time of each ended run, oldest first. */
  const ends = new Map<LoggedRun, number>()
  const erasures = new MemoryErasures()

  const remove = (logged: LoggedRun) => {
    logged.removed = true
    ends.delete(logged)
    runs.delete(nameOf(logged.run))
    const session = sessionOf(logged.run.key)
    if (latest.get(session) === logged) latest.delete(session)
  }
  const forget = () => {
    for (const [logged, at] of ends) {
      if (clock.monotonic() - at < eventTtl) return
      remove(logged)
    }
  }
  /** Runs by the key object of their writer, which is faster to look up than their names. */
  const opened = new WeakMap<RunKey, LoggedRun>()
  const find = (run: RunKey) => {
    forget()
    const logged = opened.get(run)
    const isSame = logged?.removed === false && logged.run.turnId === run.turnId && isIn(logged.run.key, run.key)
    return isSame ? logged : runs.get(nameOf(run))
  }
  const open = (run: RunKey) => {
    const logged = new LoggedRun({ key: { ...run.key }, turnId: run.turnId })
    opened.set(run, logged)
    runs.set(nameOf(run), logged)
    latest.set(sessionOf(run.key), logged)
    return logged
  }

  return {
    async append(run, epoch, events, { end = false, mustExist = false, by } = {}) {
      const texts = events.map(eventText)
      const known = find(run)
      if (known === undefined && (mustExist || erasures.fences(by))) throw unknown(run)
      const logged = known ?? open(run)
      const stands = logged.append(epoch, texts, end)
      ends.delete(logged)
      if (logged.ended) ends.set(logged, clock.monotonic())
      return stands
    },
    read: (run, after, signal) => (find(run) ?? nobody(run)).read(after, signal),
    async latest(key) {
      forget()
      const logged = latest.get(sessionOf(key))
      return logged && { turnId: logged.run.turnId, seq: logged.seq, ended: logged.ended }
    },
    async signal(run, signal) {
      const logged = find(run)
      if (logged === undefined || logged.ended) return false
      logged.signals.add(signal)
      return true
    },
    async onSignal(run, fn) {
      const logged = find(run)
      if (logged === undefined) throw unknown(run)
      return logged.signals.listen(fn)
    },
    async delete(of) {
      if (!('sessionId' in of)) erasures.add(of, clock.now())
      for (const logged of [...runs.values()])
        if (isIn(of, logged.run.key)) {
          remove(logged)
          logged.delete()
        }
    },
  }
}

/** An ended run without events. */
function nobody(run: RunKey): LoggedRun {
  const logged = new LoggedRun(run)
  logged.ended = true
  return logged
}

function isIn(of: EventScope, { tenant, owner, agent, sessionId }: SessionKey): boolean {
  if (of.tenant !== tenant || (of.owner !== undefined && of.owner !== owner)) return false
  return !('sessionId' in of) || (of.agent === agent && of.sessionId === sessionId)
}

function unknown({ key, turnId }: RunKey): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The run "${turnId}" of the session "${key.sessionId}" is not in the event log: it was never opened, or it was deleted or has expired. Open it with an append first.`,
  )
}

/** The text of a session ends where its JSON does, so that ids with the same concatenation differ. */
function nameOf({ key, turnId }: RunKey): string {
  return sessionOf(key) + turnId
}

function sessionOf({ tenant, owner, agent, sessionId }: SessionKey): string {
  return JSON.stringify([tenant, owner, agent, sessionId])
}
