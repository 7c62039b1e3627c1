import type { ContentChunk, FinishChunk } from '../model/chunk.ts'
import type { Sink } from '../model/sink.ts'
import type { TurnScope } from './turn-scope.ts'

/** Where the stream of a turn leaves its outermost layer: into the run's events and to observers. */
export class Outlet implements Sink {
  used = false
  /** The text that was shown of the present answer. */
  shown = ''
  readonly open = false
  readonly #turn: TurnScope

  constructor(turn: TurnScope) {
    this.#turn = turn
  }

  begin(): void {
    this.used = false
    this.shown = ''
  }

  push(chunk: ContentChunk): void | Promise<void> {
    this.used = true
    if (chunk.type === 'text-delta') this.shown += chunk.delta
    return this.send(chunk)
  }

  send(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    const turn = this.#turn
    const { observers } = turn.session.agent
    if (observers.has('model:chunk'))
      observers.emit('model:chunk', { type: 'model:chunk', ...turn.place, chunk: { ...chunk } })
    return turn.events.push(chunk)
  }

  reset(): void {
    this.begin()
    this.#turn.send({ type: 'model:reset', ...this.#turn.place })
  }
}
