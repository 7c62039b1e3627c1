import { isPlainObject, isRecord } from '@allium/core/internal'
import type { RunKey } from '@allium/store'

/** One letter for each event: `r` names its run, `e` does not, `v` is any other value. */
export type ShortEvents = readonly [forms: string, ...events: unknown[]]

/** Leaves out what the events of a batch repeat: the ids of their run, and the object around an event. */
export function shortEvents({ key, turnId: id }: RunKey, entries: readonly unknown[]): ShortEvents {
  let forms = ''
  const events = entries.map((entry) => {
    const event = eventIn(entry)
    const { sessionId, turnId, ...rest } = event ?? {}
    const isOfRun = sessionId === key.sessionId && turnId === id
    forms += isOfRun ? 'r' : event ? 'e' : 'v'
    return isOfRun ? rest : (event ?? entry)
  })
  return [forms, ...events]
}

/** Returns the event of an entry that has nothing else. */
function eventIn(entry: unknown): Record<string, unknown> | undefined {
  if (!isRecord(entry) || Object.keys(entry).length !== 1) return undefined
  const { event } = entry
  return isRecord(event) && isPlainObject(entry) && isPlainObject(event) ? event : undefined
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
