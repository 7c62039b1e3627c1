import { AbortError } from '../../errors/abort-error.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { isThenable, silence } from '../../errors/thenable.ts'
import type { ContentChunk, FinishChunk } from '../../model/chunk.ts'
import type { Model } from '../../model/model.ts'
import type { Emit } from '../../seams/journal.ts'
import { isContentKind } from '../../stream/chunk-kinds.ts'
import type { ModelAttempt } from './context.ts'
import { ProviderRequest } from './request.ts'

/** A provider's stream while it is read. */
export class Reading {
  #open = true
  readonly #model: Model
  readonly #request: ProviderRequest
  readonly #resolve: (finish: FinishChunk) => void
  readonly #reject: (error: unknown) => void
  #iterator: AsyncIterator<unknown> | undefined

  constructor(
    core: ModelAttempt,
    model: Model,
    resolve: (finish: FinishChunk) => void,
    reject: (error: unknown) => void,
  ) {
    this.#model = model
    this.#resolve = resolve
    this.#reject = reject
    this.#request = new ProviderRequest(core)
  }

  async read(emit: Emit<ContentChunk>): Promise<void> {
    const model = this.#model
    try {
      const iterator = (this.#iterator = model.stream(this.#request)[Symbol.asyncIterator]())
      for (;;) {
        const { done, value } = await iterator.next()
        if (!this.#open) return
        if (done === true) throw truncated(model)
        const chunk = checked(value, model)
        if (chunk === undefined) continue
        if (chunk.type === 'finish') {
          this.#shut()
          return this.#resolve(chunk)
        }
        const wait = emit(chunk)
        if (wait !== undefined) await wait
        if (!this.#open) return
      }
    } catch (error) {
      this.#fail(error, new AbortError('the call failed'))
    }
  }

  /** Closes the stream and aborts the request: nobody waits for it any more. */
  leave(reason: unknown): void {
    this.#fail(reason, reason)
  }

  #fail(error: unknown, reason: unknown): void {
    if (!this.#open) return
    this.#shut()
    this.#request.abort(reason)
    this.#reject(error)
  }

  #shut(): void {
    this.#open = false
    const iterator = this.#iterator
    if (iterator?.return === undefined) return
    try {
      const closed: unknown = iterator.return()
      if (isThenable(closed)) silence(Promise.resolve(closed))
    } catch {
      // what a provider throws while it is closed changes nothing
    }
  }
}

function truncated({ id }: Model): AlliumError {
  return new AlliumError(
    'model.truncated',
    `The stream of the model "${id}" ended without its finish: the answer was cut. Retry it (model.retry does).`,
    { details: { model: id } },
  )
}

/** A chunk that is known; others are passed over, as a newer provider may send them. */
function checked(value: unknown, model: Model): ContentChunk | FinishChunk | undefined {
  const chunk = value as ContentChunk | FinishChunk | undefined
  if (chunk?.type !== 'finish' && !isContentKind(chunk?.type)) return undefined
  const { delta = '' } = chunk as { delta?: unknown }
  if (typeof delta === 'string') return chunk
  const what = `The model "${model.id}" sent a ${chunk?.type} whose delta is ${describe(delta)}. It is a text.`
  throw new AlliumError('model.protocol', what)
}
