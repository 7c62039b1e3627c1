import type { FinishChunk } from '../../model/chunk.ts'
import type { OutputSink } from './output-sink.ts'
import type { Turn } from './turn.ts'

/** How a step ends in the stream: the finish of its call goes round the layers, behind all that they still hold back. */
export class StepEnd {
  readonly #turn: Turn
  readonly #outputSink: OutputSink
  #finish: FinishChunk | undefined
  #ended = false

  constructor(turn: Turn, outputSink: OutputSink) {
    this.#turn = turn
    this.#outputSink = outputSink
  }

  /** @param now whether the layers have let go of the answer */
  finish(chunk: FinishChunk, now: boolean): void {
    if (now) void this.#outputSink.send(chunk)
    else this.#finish = chunk
  }

  /** The step has ended; the last one when the layers have let go of its answer. */
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
