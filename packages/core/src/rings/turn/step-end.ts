import type { FinishChunk } from '../../model/chunk.ts'
import type { OutputSink } from './output-sink.ts'
import type { Turn } from './turn.ts'

/**
 * Ends a step in the stream. The finish of its call bypasses the layers, and is sent after the content that they still
 * hold back.
 */
export class StepEnd {
  readonly #turn: Turn
  readonly #outputSink: OutputSink
  #finish: FinishChunk | undefined
  #ended = false

  constructor(turn: Turn, outputSink: OutputSink) {
    this.#turn = turn
    this.#outputSink = outputSink
  }

  /** @param now whether the layers have flushed the answer */
  finish(chunk: FinishChunk, now: boolean): void {
    if (now) void this.#outputSink.send(chunk)
    else this.#finish = chunk
  }

  /** The step has ended. For the last step the event waits until the layers have flushed the answer. */
  end(): void {
    if (this.#finish === undefined) this.#turn.emitStep('step:end')
    else this.#ended = true
  }

  /** Every layer has returned. */
  seal(): void {
    if (this.#finish !== undefined) void this.#outputSink.send(this.#finish)
    if (this.#ended) this.#turn.emitStep('step:end')
    this.#finish = undefined
    this.#ended = false
  }
}
