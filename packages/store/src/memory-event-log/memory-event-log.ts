import { type Clock, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { EventLog } from '../event-log.ts'
import { MemoryErasures } from '../memory-erasures.ts'
import { eventText } from '../plain-json.ts'
import { LoggedRun } from './logged-run.ts'
import { LoggedRuns } from './logged-runs.ts'

export interface MemoryEventLogOptions {
  clock?: Clock
  /** How long the events of a run are kept after its end, in milliseconds. @default 1 hour */
  eventRetention?: number
}

const optionKeys: KeysOf<MemoryEventLogOptions> = { clock: true, eventRetention: true }

/** Stores copies of run events in this process. For tests, and for servers with a single process. */
export function memoryEventLog(options: MemoryEventLogOptions = {}): EventLog {
  checkOptions(options, optionKeys, 'memoryEventLog()', 'options.invalid')
  const { clock = systemClock, eventRetention = 3_600_000 } = options
  const runs = new LoggedRuns(clock, eventRetention)
  const erasures = new MemoryErasures()
  return {
    async append(run, epoch, events, { end = false, mustExist = false, by } = {}) {
      const texts = events.map(eventText)
      const logged = mustExist || erasures.fences(by) ? runs.get(run) : (runs.find(run) ?? runs.open(run))
      const appended = logged.append(epoch, texts, end)
      runs.appended(logged)
      return appended
    },
    read: (run, after, signal) => (runs.find(run) ?? LoggedRun.empty(run)).read(after, signal),
    async latest(key) {
      const logged = runs.latest(key)
      return logged && { turnId: logged.run.turnId, seq: logged.seq, ended: logged.ended }
    },
    async signal(run, signal) {
      const logged = runs.find(run)
      if (logged === undefined || logged.ended) return false
      logged.signals.add(signal)
      return true
    },
    onSignal: async (run, fn) => runs.get(run).signals.listen(fn),
    async delete(scope) {
      if (!('sessionId' in scope)) erasures.add(scope, clock.now())
      runs.delete(scope)
    },
  }
}
