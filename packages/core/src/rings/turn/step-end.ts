import type { FinishChunk } from '../../model/chunk.ts'
import type { Outlet } from './outlet.ts'
import type { Turn } from './turn.ts'

/** How a step ends in the stream: the finish of its call goes round the layers, behind all that they still hold back. */
export class StepEnd {
  readonly #turn: Turn
  readonly #outlet: Outlet
  #finish: FinishChunk | undefined
  #ended = false

  constructor(turn: Turn, outlet: Outlet) {
    this.#turn = turn
    this.#outlet = outlet
  }

  /** @param now whether the layers have let go of the answer */
  finish(chunk: FinishChunk, now: boolean): void {
    if (now) void this.#outlet.send(chunk)
    else this.#finish = chunk
  }

  /** The step has ended; the last one when the layers have let go of its answer. */
  end(): void {
    if (this.#finish === undefined) this.#turn.tellStep('step:end')
    else this.#ended = true
  }

  /** Every layer has returned. */
  seal(): void {
    if (this.#finish !== undefined) void this.#outlet.send(this.#finish)
    if (this.#ended) this.#turn.tellStep('step:end')
    this.#finish = undefined
    this.#ended = false
  }
}
