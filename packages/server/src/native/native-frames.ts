import { toJson } from '@allium/core'
import { isPlainJson, openedEvent } from '@allium/event-log'
import type { FrameWriter } from '../response/stream.ts'

/** Writes the events of a run unchanged, each with an id from which a reader can resume. */
export function nativeFrames(): FrameWriter {
  return {
    write(entry) {
      const { run, seq } = entry
      const event = openedEvent(entry)
      const data = textOf(event)
      return [run === undefined ? { event: event.type, data } : { id: `${seq}.${run}`, event: event.type, data }]
    },
  }
}

/** Returns the text of `toJson()`, which escapes keys that begin with `$`. Plain JSON, as most events are, is written faster. */
function textOf(event: unknown): string {
  const text = isPlainJson(event) ? JSON.stringify(event) : '"$'
  return text.includes('"$') ? toJson(event) : text
}
