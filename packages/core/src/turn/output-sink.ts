import type { StreamEvent } from '../events/events.ts'
import type { ContentChunk, FinishChunk } from '../model/chunk.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import { Assembly } from '../stream/assembly.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import type { Sink } from '../stream/transforms.ts'
import type { Display } from './display.ts'
import type { Transcript } from './transcript.ts'

/** The turn whose stream leaves here. */
export interface OutputSinkHost {
  readonly session: Pick<SessionScope, 'agent'>
  readonly location: { sessionId: string; turnId: string; stepIndex: number }
  readonly events: RunEvents
  readonly display: Display | undefined
  readonly transcript: Pick<Transcript, 'reset'>
  send(event: StreamEvent): void
}

/**
 * Where the turn's stream leaves the outermost layer, to the run's events and to observers. While a turn layer holds,
 * the chunks are buffered here, after the transforms of all layers, so that a reset can still drop them.
 */
export class OutputSink implements Sink {
  used = false
  /** The text of the current answer that was shown. */
  shown = ''
  /** The shown answer as a message. Set if layers of the turn may have changed it. */
  assembly: Assembly | undefined
  readonly #turn: OutputSinkHost
  #hold: Hold | undefined
  /** The end of the last step, until the layers have flushed the answer. */
  #finish: FinishChunk | undefined
  #stepEnded = false

  constructor(turn: OutputSinkHost) {
    this.#turn = turn
  }

  get open(): boolean {
    return this.#hold !== undefined
  }

  begin(): void {
    this.#clear()
    if (this.#hold === undefined) return
    this.#hold.chunks.push(anotherAnswer)
    this.#hold.answerStart = this.#hold.chunks.length
  }

  /** Starts assembling the output, because layers of the turn may change it. */
  track(): void {
    this.assembly ??= new Assembly('the turn')
  }

  push(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (this.#hold === undefined) return this.#show(chunk)
    if (chunk.type !== 'finish') this.used = true
    this.#hold.chunks.push(chunk)
  }

  /** A model call has finished. Its chunk bypasses the layers, after the content that they hold back. */
  finish(chunk: FinishChunk, flushed: boolean): void {
    if (flushed || this.assembly === undefined) void this.push(chunk)
    else this.#finish = chunk
  }
  /** The step has ended. For the last step the event waits until the layers have flushed the answer. */
  endStep(): void {
    if (this.#finish === undefined) this.#turn.send({ type: 'step:end', ...this.#turn.location })
    else this.#stepEnded = true
  }
  /** Every layer has returned. Sends the end of the last step. */
  seal(): void {
    if (this.#finish !== undefined) void this.push(this.#finish)
    if (this.#stepEnded) this.#turn.send({ type: 'step:end', ...this.#turn.location })
  }

  reset(): void {
    const turn = this.#turn
    const hold = this.#hold
    if (hold !== undefined) hold.chunks.length = hold.answerStart
    else {
      turn.send({ type: 'model:reset', ...turn.location })
      turn.transcript.reset()
    }
    this.#clear()
  }

  /** The layer at this index of the turn's onion holds. */
  hold(index: number): void {
    this.#hold ??= { layers: [], chunks: [], answerStart: 0 }
    this.#hold.layers.push(index)
  }

  /**
   * The layer at this index has returned. When the last holding layer returns, the buffered chunks are sent. Returns
   * whether they were. A reader cannot tell apart the answers of several steps that arrive at once, so a reset takes
   * back all of them.
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

  /** The layers from this index inward have failed. Drops what one of them held, and returns whether one did. */
  drop(from: number): boolean {
    const hold = this.#hold
    if (hold === undefined || (hold.layers.at(-1) ?? -1) < from) return false
    const layers = hold.layers.filter((index) => index < from)
    this.#hold = layers.length === 0 ? undefined : { layers, chunks: [], answerStart: 0 }
    this.used = false
    return true
  }

  #clear(): void {
    this.used = false
    this.shown = ''
    if (this.assembly !== undefined) this.assembly = new Assembly('the turn')
  }

  #show(chunk: ContentChunk | FinishChunk): void | Promise<void> {
    if (chunk.type === 'text-delta') this.shown += chunk.delta
    if (chunk.type !== 'finish') {
      this.used = true
      this.assembly?.add(chunk)
    }
    const turn = this.#turn
    const { observers } = turn.session.agent
    if (observers.events.has('model:chunk')) {
      observers.emit('model:chunk', { type: 'model:chunk', ...turn.location, chunk: { ...chunk } })
    }
    return turn.display === undefined ? turn.events.push(chunk) : turn.display.push(chunk)
  }
}

/** Marks the start of a model call in the buffered chunks. */
const anotherAnswer = Symbol('another answer')

/** The buffer of the turn layers that hold. */
interface Hold {
  /** Their indexes in the onion. */
  readonly layers: number[]
  readonly chunks: (ContentChunk | FinishChunk | typeof anotherAnswer)[]
  /** Where the current answer starts in `chunks`. */
  answerStart: number
}
