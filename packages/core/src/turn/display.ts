import type { ContentChunk, FinishChunk } from '../model/chunk.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import type { DisplayText } from '../stream/transforms.ts'

type Delta = Extract<ContentChunk, { type: 'text-delta' | 'reasoning-delta' }>

/**
 * Maps the stream and the result's text for the run's own reader, after all layers. The mapped text is not in the
 * history, and observers do not see it.
 */
export class Display {
  readonly #events: RunEvents
  readonly #makes: (() => DisplayText)[] = []
  readonly #open = new Map<Delta['type'], { maps: DisplayText[]; last: Delta }>()

  constructor(events: RunEvents) {
    this.#events = events
  }

  add(make: () => DisplayText): void {
    this.#makes.unshift(make) // inner layers first
  }

  push(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (chunk.type !== 'text-delta' && chunk.type !== 'reasoning-delta') {
      this.flush()
      return this.#events.push(chunk)
    }
    const { maps } = this.#open.get(chunk.type) ?? { maps: this.#makes.map((make) => make()) }
    this.#open.set(chunk.type, { maps, last: chunk })
    const delta = maps.reduce((text, map) => (text === '' ? text : map.push(text)), chunk.delta)
    if (delta !== '' || chunk.providerMetadata !== undefined) return this.#events.push({ ...chunk, delta })
  }

  /** Another event follows. Sends the text that was held back first. */
  flush(): void {
    for (const [type, { maps, last }] of this.#open) {
      const rest = ended(maps)
      const delta: Delta = { type, delta: rest, ...(last.id !== undefined && { id: last.id }) }
      if (rest !== '') void this.#events.push(delta)
    }
    this.#open.clear()
  }

  /** The shown text was taken back. */
  reset(): void {
    this.#open.clear()
  }

  whole(text: string): string {
    return this.#makes.reduce((mapped, make) => {
      const map = make()
      return map.push(mapped) + map.end()
    }, text)
  }
}

/** Ends all maps. The rest of each passes through the ones after it. */
function ended(maps: readonly DisplayText[]): string {
  let rest = ''
  for (const map of maps) rest = (rest === '' ? '' : map.push(rest)) + map.end()
  return rest
}
