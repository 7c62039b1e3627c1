import type { ContentChunk, FinishChunk } from '../../model/chunk.ts'
import { Assembly } from '../../stream/assembly.ts'
import type { Sink } from '../../stream/sink.ts'
import type { Turn } from './turn.ts'

/**
 * Where the stream of a turn leaves its outermost layer: into the run's events and to observers. While a turn layer
 * holds, it keeps everything here, behind the transforms of all layers, so that what is kept can still be begun again.
 */
export class OutputSink implements Sink {
  used = false
  /** The text that was shown of the present answer. */
  shown = ''
  /** The same as a message, where layers of the turn may have changed it on its way. */
  assembly: Assembly | undefined
  readonly #turn: Turn
  #hold: Hold | undefined

  constructor(turn: Turn) {
    this.#turn = turn
  }

  get open(): boolean {
    return this.#hold !== undefined
  }

  begin(): void {
    this.used = false
    this.shown = ''
    if (this.assembly !== undefined) this.assembly = new Assembly('the turn')
    if (this.#hold === undefined) return
    this.#hold.chunks.push(anotherAnswer)
    this.#hold.answerStart = this.#hold.chunks.length
  }

  /** Layers of the turn may change what is shown: from here on it is put together. */
  track(): void {
    this.assembly ??= new Assembly('the turn')
  }

  push(chunk: ContentChunk): void | Promise<void> {
    this.used = true
    return this.send(chunk)
  }

  send(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (this.#hold === undefined) return this.#show(chunk)
    this.#hold.chunks.push(chunk)
  }

  reset(): void {
    if (this.#hold !== undefined) this.#hold.chunks.length = this.#hold.answerStart
    else this.#retract()
    this.used = false
    this.shown = ''
    if (this.assembly !== undefined) this.assembly = new Assembly('the turn')
  }

  /** The layer at this place of the turn's onion holds. */
  hold(index: number): void {
    this.#hold ??= { layers: [], chunks: [], answerStart: 0 }
    this.#hold.layers.push(index)
  }

  /**
   * The layer at this place has returned: where it held, what is kept goes on with the last of those that did. Tells whether
   * it does. Readers cannot tell the answers of several steps apart that come at once: what takes one back takes back all.
   */
  release(index: number): boolean {
    const hold = this.#hold
    if (hold === undefined || hold.layers.at(-1) !== index) return false
    hold.layers.pop()
    if (hold.layers.length > 0) return false
    const { chunks } = hold
    this.#hold = undefined
    let used = false
    for (const chunk of chunks)
      if (chunk === anotherAnswer) this.begin()
      else {
        void this.#show(chunk)
        used ||= this.used
      }
    this.used = used
    return true
  }

  /** The layers from a place on have failed: what one of them held is dropped. Tells whether one did. */
  drop(from: number): boolean {
    const hold = this.#hold
    if (hold === undefined || (hold.layers.at(-1) ?? -1) < from) return false
    const layers = hold.layers.filter((index) => index < from)
    this.#hold = layers.length === 0 ? undefined : { layers, chunks: [], answerStart: 0 }
    this.used = false
    return true
  }

  #retract(): void {
    this.#turn.send({ type: 'model:reset', ...this.#turn.location })
    this.#turn.answer.reset()
  }

  #show(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (chunk.type === 'text-delta') this.shown += chunk.delta
    if (chunk.type !== 'finish') {
      this.used = true
      this.assembly?.add(chunk)
    }
    const turn = this.#turn
    const { observers } = turn.session.agent
    if (observers.has('model:chunk'))
      observers.emit('model:chunk', { type: 'model:chunk', ...turn.location, chunk: { ...chunk } })
    return turn.display === undefined ? turn.events.push(chunk) : turn.display.push(chunk)
  }
}

/** Stands in what is held where a model call begins. */
const anotherAnswer = Symbol('another answer')

/** What the turn layers that hold keep back. */
interface Hold {
  /** Their places in the onion. */
  readonly layers: number[]
  readonly chunks: (ContentChunk | FinishChunk | typeof anotherAnswer)[]
  /** Where the present answer begins. */
  answerStart: number
}
