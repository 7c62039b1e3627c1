import { isRecord } from '@allium/core/internal'
import type { RunKey } from '@allium/store'

/** One letter for each event: `r` names its run, `e` does not, `v` is any other value. */
export type ShortEvents = readonly [forms: string, ...events: unknown[]]

/** Leaves out what the events of a batch repeat: the ids of their run, and the object around an event. */
export function shortEvents(run: RunKey, entries: readonly unknown[]): ShortEvents {
  let forms = ''
  const events = entries.map((entry) => {
    const event = isRecord(entry) && Object.keys(entry).length === 1 && isRecord(entry.event) ? entry.event : undefined
    const { sessionId, turnId, ...rest } = event ?? {}
    const isOfRun = sessionId === run.key.sessionId && turnId === run.turnId
    forms += isOfRun ? 'r' : event === undefined ? 'v' : 'e'
    return isOfRun ? rest : (event ?? entry)
  })
  return [forms, ...events]
}

/** Returns the events of a batch as they were appended. */
export function fullEvents({ key, turnId }: RunKey, [forms, ...events]: ShortEvents): unknown[] {
  return events.map((event, i) => {
    if (forms[i] === 'v') return event
    if (forms[i] === 'e') return { event }
    const { type, ...rest } = event as { type: unknown }
    return { event: { type, sessionId: key.sessionId, turnId, ...rest } }
  })
}
