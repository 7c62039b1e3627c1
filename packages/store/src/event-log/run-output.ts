import { toJson } from '@allium/core'
import { merged } from '@allium/core/internal'
import { isPlainJson } from '@allium/store'
import { endOfTick } from './defer.ts'
import type { Entry } from './entry.ts'
import type { LiveEvents } from './live-events.ts'
import type { LogWriter } from './log-writer.ts'

/** Characters of text that are merged into one event: a reader that stops reading keeps at most a few events. */
const maxMerged = 16_384

/**
 * Passes the events of a run to its readers in this process and to the log. Events of one tick of the event loop go together, and adjacent
 * text among them is merged, up to a limit, so that a burst of chunks costs as much as a few.
 */
export class RunOutput {
  readonly #live: LiveEvents
  readonly #writer: LogWriter
  #tick: Entry[] = []
  /** Characters of text in the tick. */
  #characters = 0

  constructor(live: LiveEvents, writer: LogWriter) {
    this.#live = live
    this.#writer = writer
  }

  /** Skips events that the log cannot store. */
  push(entry: Entry): void {
    if (!isStorable(entry)) return
    const { delta } = entry.event as { delta?: string }
    this.#characters += delta?.length ?? 0
    if (this.#characters > maxMerged) {
      this.flush()
      this.#characters = delta?.length ?? 0
    }
    if (this.#tick.push(entry) === 1) void endOfTick().then(this.flush)
  }

  readonly flush = (): void => {
    const entries = this.#tick
    this.#characters = 0
    if (entries.length === 0) return
    this.#tick = []
    const joined = joinText(entries)
    for (const entry of joined) this.#writer.push(entry)
    this.#live.push(joined)
  }
}

/** Merges adjacent text. Entries with more than their event stay as they are. */
function joinText(entries: readonly Entry[]): Entry[] {
  const joined: Entry[] = []
  let events: unknown[] = []
  const joinEvents = () => {
    for (const event of merged(events)) joined.push({ event } as Entry)
    events = []
  }
  for (const entry of entries) {
    if (Object.keys(entry).length === 1) events.push(entry.event)
    else {
      joinEvents()
      joined.push(entry)
    }
  }
  joinEvents()
  return joined
}

/** Events of layers may contain anything, for example a function. */
function isStorable(entry: Entry): boolean {
  try {
    if (!isPlainJson(entry)) toJson(entry)
    return true
  } catch {
    return false
  }
}
