import type { CustomEvent, StreamEvent } from '../events/events.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import { contentKinds } from '../stream/transforms.ts'
import type { Turn } from '../turn/turn.ts'

type Parent = Pick<Turn, 'location' | 'send'>

/** Forwards the events of a sub-agent's run: to its own stream, and with its path to the parent's stream. */
export class EventForwarder implements RunEvents {
  readonly #own: RunEvents
  readonly #parent: Parent
  readonly #agent: string
  /** The sub-agent's turn, which provides the location of chunks. */
  turn: Turn | undefined

  constructor(events: RunEvents, parent: Parent, agent: string) {
    this.#own = events
    this.#parent = parent
    this.#agent = agent
  }

  push(event: StreamEvent | CustomEvent): void | Promise<void> {
    const chunk = event as Extract<StreamEvent, { type: 'text-delta' }>
    const forwarded = contentKinds.has(event.type) || event.type === 'finish' ? this.#placed(chunk) : event
    const { path = [] } = forwarded as { path?: readonly string[] }
    this.#parent.send({ ...forwarded, path: [this.#agent, ...path] } as StreamEvent)
    return this.#own.push(event)
  }

  flow(): void {
    this.#own.flow?.()
  }

  #placed(chunk: Extract<StreamEvent, { type: 'text-delta' }>): StreamEvent {
    const location = this.turn?.location ?? this.#parent.location
    return { type: 'model:chunk', ...location, chunk }
  }
}
