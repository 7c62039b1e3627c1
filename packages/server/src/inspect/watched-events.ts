import type { EventLog } from '@allium/store'
import { toEntry } from '@allium/store/event-log'
import { isIn } from './recorded-run.ts'
import type { TraceLog } from './trace-log.ts'

/** Returns the event log, with each appended event copied to the trace log. Tokens of pending calls are not copied, and deleted runs are forgotten. */
export function watchedEvents(events: EventLog, log: TraceLog): EventLog {
  const append: EventLog['append'] = async (run, epoch, appended, options) => {
    const logged = await events.append(run, epoch, appended, options)
    if (logged.seq === undefined) return logged
    const { key, turnId } = run
    const { sessionId, tenant, owner } = key
    const recorded = log.run(key, turnId)
    recorded.isLogged = true
    for (const [index, item] of appended.entries()) {
      const { event } = toEntry({ seq: index, event: item })
      if (event.type === 'file') log.files.add(recorded, event as never)
      log.add(recorded, { type: 'event', turnId, sessionId, tenant, owner, event: event as never, at: Date.now() })
    }
    return logged
  }
  return {
    append,
    read: (...args) => events.read(...args),
    latest: (...args) => events.latest(...args),
    signal: (...args) => events.signal(...args),
    onSignal: (...args) => events.onSignal(...args),
    async delete(scope) {
      await events.delete(scope)
      log.forget(({ key }) => isIn(scope, key))
    },
  }
}
