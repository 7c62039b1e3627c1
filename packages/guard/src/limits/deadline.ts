import { AlliumError, type Clock, type ModelContext, type NextOptions } from '@allium/core'

/** Cancels one attempt of a turn, a model call or a tool call that takes too long. */
export class Deadline {
  readonly #layer: string
  readonly #scope: 'turn' | 'model' | 'tool'
  readonly #clock: Clock
  readonly #controller = new AbortController()

  constructor(layer: string, scope: 'turn' | 'model' | 'tool', clock: Clock) {
    this.#layer = layer
    this.#scope = scope
    this.#clock = clock
  }

  /** Runs the attempt. Without a time, only `watchChunks` can cancel it. */
  async run<R>(ms: number | undefined, next: (options: NextOptions) => Promise<R>): Promise<R> {
    const what = this.#scope === 'turn' ? 'turn' : `${this.#scope} call`
    const stopTimer = this.#startTimer(ms, `The ${what} took longer than`)
    try {
      return await next({ signal: this.#controller.signal })
    } finally {
      stopTimer()
    }
  }

  /** Aborts when the model is silent too long. A pipe resumes after its output was taken, so the reader's time does not count. */
  watchChunks(ctx: Pick<ModelContext, 'pipe'>, firstChunk: number, chunk: number | undefined): void {
    const startTimer = (ms: number | undefined) => this.#startTimer(ms, 'The model sent nothing for')
    ctx.pipe(async function* (chunks) {
      let stopTimer = startTimer(firstChunk)
      try {
        for await (const current of chunks) {
          stopTimer()
          yield current
          stopTimer = startTimer(chunk)
        }
      } finally {
        stopTimer()
      }
    })
  }

  #startTimer(ms: number | undefined, what: string): () => void {
    if (ms === undefined) return () => {}
    const message = `${what} ${ms} ms ("${this.#layer}").`
    return this.#clock.after(ms, () =>
      this.#controller.abort(
        new AlliumError(`${this.#scope}.timeout`, message, { details: { layer: this.#layer, ms } }),
      ),
    )
  }
}
