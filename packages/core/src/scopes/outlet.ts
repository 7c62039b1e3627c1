import type { ContentChunk, FinishChunk } from '../model/chunk.ts'
import type { Sink } from '../model/sink.ts'
import type { TurnScope } from './turn-scope.ts'

/**
 * Where the stream of a turn leaves its outermost layer: into the run's events and to observers. While a turn layer
 * holds, it keeps everything here, behind the transforms of all layers, so that what is kept can still be begun again.
 */
export class Outlet implements Sink {
  used = false
  /** The text that was shown of the present answer. */
  shown = ''
  readonly #turn: TurnScope
  #holds: number[] = []
  #held: (ContentChunk | FinishChunk)[] = []
  /** Where the present answer begins in what is held. */
  #mark = 0

  constructor(turn: TurnScope) {
    this.#turn = turn
  }

  get open(): boolean {
    return this.#holds.length > 0
  }

  begin(): void {
    this.used = false
    this.shown = ''
    this.#mark = this.#held.length
  }

  push(chunk: ContentChunk): void | Promise<void> {
    this.used = true
    return this.send(chunk)
  }

  send(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (this.#holds.length === 0) return this.#show(chunk)
    this.#held.push(chunk)
  }

  reset(): void {
    if (this.#holds.length > 0) this.#held.length = this.#mark
    else this.#turn.send({ type: 'model:reset', ...this.#turn.place })
    this.used = false
    this.shown = ''
  }

  /** The layer at this place of the turn's onion holds. */
  hold(index: number): void {
    this.#holds.push(index)
  }

  /** A layer that held has returned; what is kept goes on with the last of them. */
  release(): void {
    this.#holds.pop()
    if (this.#holds.length > 0) return
    const held = this.#held
    this.#held = []
    this.#mark = 0
    for (const chunk of held) void this.#show(chunk)
  }

  /** The layers from a place on have failed: what one of them held is dropped. */
  drop(from: number): void {
    if ((this.#holds.at(-1) ?? -1) < from) return
    this.#holds = this.#holds.filter((index) => index < from)
    this.#held.length = 0
    this.#mark = 0
  }

  #show(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (chunk.type === 'text-delta') this.shown += chunk.delta
    const turn = this.#turn
    const { observers } = turn.session.agent
    if (observers.has('model:chunk'))
      observers.emit('model:chunk', { type: 'model:chunk', ...turn.place, chunk: { ...chunk } })
    return turn.events.push(chunk)
  }
}
