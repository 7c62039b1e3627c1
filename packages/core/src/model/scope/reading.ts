import { AbortError } from '../../errors/abort-error.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { silence, watch } from '../../errors/thenable.ts'
import type { Message } from '../../messages/message.ts'
import { Cancel } from '../../onion/cancel.ts'
import type { Emit } from '../../ports/journal.ts'
import { contentKinds } from '../../stream/transforms.ts'
import type { ContentChunk, FinishChunk } from '../chunk.ts'
import type { Model, ModelRequest, ResponseFormat, Settings, ToolChoice, ToolDef } from '../model.ts'
import type { ModelAttempt } from './context.ts'

/** Receives the chunks of a stream. */
export interface Taker {
  /** Returns a promise if the reading has to wait before the next chunk. */
  take: Emit<ContentChunk>
  finished(finish: FinishChunk): void
  failed(error: unknown): void
}

/** Reads a provider's stream. It uses callbacks, because an async function would create six objects per chunk. */
export class Reading {
  #open = true
  readonly #model: Model
  readonly #request: ProviderRequest
  readonly #taker: Taker
  #iterator: AsyncIterator<unknown> | undefined
  /** The number of characters received, plus 16 for each chunk. */
  #size = 0

  constructor(model: Model, request: ProviderRequest, taker: Taker) {
    this.#model = model
    this.#request = request
    this.#taker = taker
  }

  begin(): void {
    try {
      this.#iterator = this.#model.stream(this.#request)[Symbol.asyncIterator]()
      this.#next()
    } catch (error) {
      this.#failed(error)
    }
  }

  #next(): void {
    if (!this.#open) return
    try {
      watch((this.#iterator as AsyncIterator<unknown>).next(), this.#took, this.#failed)
    } catch (error) {
      this.#failed(error)
    }
  }

  readonly #took = (result: unknown): void => {
    if (!this.#open) return
    try {
      const { done, value } = result as IteratorResult<unknown>
      if (done === true) throw truncated(this.#model)
      const chunk = this.#checked(value)
      if (chunk?.type === 'finish') {
        this.#stop()
        return this.#taker.finished(chunk)
      }
      const backpressure = chunk === undefined ? undefined : this.#taker.take(chunk)
      if (backpressure === undefined) this.#next()
      else watch(backpressure, () => this.#next(), this.#failed)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Returns a chunk of a known type. Unknown types are skipped, because newer providers may send them. */
  #checked(value: unknown): ContentChunk | FinishChunk | undefined {
    const chunk = value as ContentChunk | FinishChunk | undefined
    const { delta = '' } = (chunk ?? {}) as { delta?: unknown }
    this.#size += 16 + ((delta as { length?: number } | null)?.length ?? 0)
    if (this.#size > most) throw endless(this.#model)
    if (chunk?.type !== 'finish' && !contentKinds.has(chunk?.type)) return undefined
    if (typeof delta !== 'string') throw noText(this.#model, chunk?.type, delta)
    return chunk
  }

  readonly #failed = (error: unknown): void => {
    if (this.#open) this.#fail(error, new AbortError('the call failed'))
  }

  /** Closes the stream and aborts the request, because the attempt was abandoned. */
  abandon(reason: unknown): void {
    this.#fail(reason, reason)
  }

  #fail(error: unknown, reason: unknown): void {
    if (!this.#open) return
    this.#stop()
    this.#request.abort(reason)
    this.#taker.failed(error)
  }

  #stop(): void {
    this.#open = false
    const iterator = this.#iterator
    if (iterator?.return === undefined) return
    try {
      silence(Promise.resolve(iterator.return()))
    } catch {
      // an error while closing changes nothing
    }
  }
}

function truncated({ id }: Model): AlliumError {
  return new AlliumError(
    'model.truncated',
    `The model "${id}" sent no finish: its answer is incomplete. Use model.retry.`,
    { details: { model: id } },
  )
}

/** The maximum size of one call, in characters. No provider sends an answer this long. */
const most = 64 * 1024 * 1024

function endless({ id }: Model): AlliumError {
  const what = `The model "${id}" sent more than ${most} characters in one call. Check its endpoint.`
  return new AlliumError('model.protocol', what, { details: { model: id } })
}

function noText({ id }: Model, type: string | undefined, delta: unknown): AlliumError {
  return new AlliumError(
    'model.protocol',
    `The model "${id}" sent a ${type} whose delta is ${describe(delta)}, not a string.`,
  )
}

/** The request of one provider call. Its abort signal is created only if the provider reads it. */
export class ProviderRequest implements ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDef[]
  readonly toolChoice: ToolChoice
  readonly settings: Readonly<Settings>
  readonly responseFormat: ResponseFormat
  readonly principal: unknown
  #cancel: Cancel | undefined

  constructor({ $fields, $call: call }: ModelAttempt) {
    const { messages, settings, toolDefs, toolChoice, responseFormat } = $fields
    this.messages = messages ?? call.messages()
    this.tools = toolDefs
    this.toolChoice = toolChoice
    this.settings = settings
    this.responseFormat = responseFormat
    this.principal = call.turn.session.principal
  }

  get signal(): AbortSignal {
    this.#cancel ??= new Cancel()
    return this.#cancel.signal
  }

  abort(reason: unknown): void {
    this.#cancel ??= new Cancel()
    this.#cancel.abort(reason)
  }
}
