import { eventText } from '@allium/store'
import { openedEvent } from '@allium/store/event-log'
import type { FrameWriter } from '../response/stream.ts'

/** Writes the events of a run unchanged, each with an id from which a reader can resume. */
export function nativeFrames(): FrameWriter {
  return {
    write(entry) {
      const { run, seq } = entry
      const event = openedEvent(entry)
      const data = eventText(event)
      return [run === undefined ? { event: event.type, data } : { id: `${seq}.${run}`, event: event.type, data }]
    },
  }
}
