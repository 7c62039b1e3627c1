import { type ContentChunk, type FinishChunk, followSignal, type ModelContext, type ModelResponse } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import type { AiSdkMiddleware, GenerateResult, Params, StreamPart } from './ai-sdk-middleware.ts'
import { assemble } from './assemble.ts'
import { fromGenerateResult, toGenerateResult } from './generate-result.ts'
import { keyOf } from './key-of.ts'
import { Originals } from './originals.ts'
import { Request } from './request.ts'
import { Source } from './source.ts'
import { Spoken } from './spoken.ts'

/** An attempt that a middleware asks for. */
interface Wanted {
  params: Params
  give(source: Source): void
  refuse(error: unknown): void
}

type Settled = { response: ModelResponse } | { error: unknown }

/**
 * One model call through one middleware of the AI SDK. What the middleware says is read by the pipe of the attempt that it
 * has asked for, so that it streams; where it has asked for none, by the layer.
 */
export class MiddlewareCall {
  readonly #originals = new Originals()
  readonly #request: Request
  readonly #facade: AiSdkModel
  #params: Params
  #spoken!: Spoken
  /** The attempt that runs. */
  #source: Source | undefined
  /** One that began anew, for the run of the middleware that begins with it. */
  #restarted: Source | undefined
  /** Those asked for and not begun: one after the other. */
  readonly #queue: Wanted[] = []
  #wake = () => {}

  constructor(
    readonly middleware: AiSdkMiddleware,
    readonly layer: string,
    readonly ctx: ModelContext,
    readonly next: () => Promise<ModelResponse>,
    facade: AiSdkModel,
  ) {
    this.#facade = {
      ...facade,
      doStream: (params: Params) => this.#stream(params),
      doGenerate: (params: Params) => this.#generate(params),
    } as AiSdkModel
    this.#request = new Request(ctx, this.#facade, layer)
    this.#params = this.#request.params
  }

  async answer(): Promise<ModelResponse> {
    const { transformParams, wrapStream, wrapGenerate } = this.middleware
    const model = this.#facade
    // Alone, a wrapGenerate stands before the answer whole: a stream past it would show what it is to change.
    const type = wrapStream === undefined && wrapGenerate !== undefined ? 'generate' : 'stream'
    if (transformParams !== undefined)
      this.#params = (await transformParams.call(this.middleware, {
        type,
        params: this.#params,
        model,
      } as never)) as Params
    if (wrapStream === undefined && wrapGenerate === undefined) {
      this.#request.apply(this.#params)
      return named(await this.next(), this.#overridden())
    }
    this.ctx.pipe((chunks, end) => this.#pipe(new Source(chunks, end, model, this.#originals)))
    return this.#untilAborted()
  }

  async #untilAborted(): Promise<ModelResponse> {
    let untie = () => {}
    const aborted = new Promise<never>((_, reject) => {
      untie = followSignal(this.ctx.signal, reject)
    })
    try {
      return await Promise.race([this.#answers(), aborted])
    } catch (error) {
      this.#spoken?.abandon(error)
      throw error
    } finally {
      untie()
    }
  }

  async #answers(): Promise<ModelResponse> {
    this.#begin()
    let last: Settled | undefined
    for (let wanted = await this.#attend(); wanted !== undefined; wanted = this.#queue[0])
      last = await this.#attempt(wanted)
    const { ended } = this.#spoken
    if (last !== undefined && 'error' in last && (ended?.finish === undefined || this.ctx.signal.aborted))
      throw ended?.error ?? last.error
    if (ended?.finish === undefined) throw ended?.error
    if (last !== undefined && 'response' in last) return this.#told(last.response, ended.finish)
    const response = assemble(this.#spoken.chunks, ended.finish, this.#overridden() ?? this.ctx.model)
    return last === undefined ? this.ctx.skipCall(response) : response
  }

  /** Reads what the middleware says until it asks for an attempt, or has said all. */
  async #attend(): Promise<Wanted | undefined> {
    const asked = new Promise<undefined>((resolve) => {
      this.#wake = () => resolve(undefined)
    })
    for (let at = 0; this.#queue[0] === undefined; at++) {
      const chunk = await Promise.race([this.#spoken.at(at), asked])
      if (this.#queue[0] !== undefined) return this.#queue[0]
      if (chunk === undefined) return undefined
    }
    return this.#queue[0]
  }

  async #attempt(wanted: Wanted): Promise<Settled> {
    try {
      this.#request.apply(wanted.params)
      return { response: await this.next() }
    } catch (error) {
      // It never began.
      if (this.#queue[0] === wanted) {
        this.#queue.shift()
        wanted.refuse(error)
        await this.#attend()
      }
      return { error }
    }
  }

  /** The pipe of one attempt: what the middleware says goes on from here. */
  async *#pipe(source: Source): AsyncGenerator<ContentChunk> {
    this.#open(source)
    const spoken = this.#spoken
    for (let at = 0; ; at++) {
      const chunk = await Promise.race([spoken.at(at), source.left])
      if (source.isLeft || chunk === undefined) break
      yield chunk
    }
    if (!source.isLeft && spoken.ended?.error !== undefined && source.failed === undefined) throw spoken.ended.error
    await source.drain()
  }

  /** An attempt has begun: because it was asked for, or because it was taken back inside and begins anew. */
  #open(source: Source): void {
    const before = this.#source
    this.#source = source
    const wanted = this.#queue.shift()
    if (wanted !== undefined) {
      if (this.#queue.length > 0) source.leave()
      return wanted.give(source)
    }
    if (before === undefined) return
    before.next = source
    if (before.isWhole) {
      source.isWhole = true
      return
    }
    this.#spoken.abandon(new Error('The answer began anew.'))
    this.#restarted = source
    this.#begin()
  }

  /** Runs the middleware. */
  #begin(): void {
    this.#spoken = new Spoken(this.#run(), this.layer, this.#facade, this.#originals)
  }

  async #run(): Promise<unknown> {
    const { middleware } = this
    const params = this.#params
    const options = {
      doGenerate: () => this.#generate(params),
      doStream: () => this.#stream(params),
      params,
      model: this.#facade,
    } as never
    if (middleware.wrapStream !== undefined) return (await middleware.wrapStream(options)).stream
    return this.#streamOf((await middleware.wrapGenerate?.(options)) as GenerateResult)
  }

  async #stream(params: Params): Promise<{ stream: ReadableStream<StreamPart> }> {
    return { stream: await (await this.#call(params)).stream() }
  }

  async #generate(params: Params): Promise<GenerateResult> {
    return toGenerateResult(await (await this.#call(params)).whole())
  }

  /** One after the other: an attempt begins when the one before is over. */
  #call(params: Params): Promise<Source> {
    const restarted = this.#restarted
    this.#restarted = undefined
    if (restarted !== undefined) return Promise.resolve(restarted)
    return new Promise((give, refuse) => {
      this.#queue.push({ params, give, refuse })
      this.#source?.leave()
      this.#wake()
    })
  }

  #streamOf(result: GenerateResult): ReadableStream<StreamPart> {
    const parts = fromGenerateResult(result)
    return new ReadableStream<StreamPart>({
      start(controller) {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })
  }

  /** The answer of the attempt, with what the middleware tells of its end. */
  #told(
    response: ModelResponse,
    { reason, rawReason, providerMetadata, responseId, warnings }: FinishChunk,
  ): ModelResponse {
    const told: Partial<ModelResponse> = {}
    if (reason !== response.finishReason) Object.assign(told, { finishReason: reason, rawFinishReason: rawReason })
    if (providerMetadata !== undefined) told.providerMetadata = providerMetadata
    if (responseId !== undefined) told.responseId = responseId
    if (warnings !== undefined) told.warnings = warnings
    const same = Object.entries(told).every(
      ([name, value]) => keyOf(response[name as keyof ModelResponse]) === keyOf(value),
    )
    return named(same ? response : { ...response, ...told }, this.#overridden())
  }

  /** As observers are told the model. */
  #overridden(): string | undefined {
    const { overrideProvider, overrideModelId } = this.middleware
    if (overrideProvider === undefined && overrideModelId === undefined) return undefined
    const model = this.#facade
    const options = { model } as never
    const provider = overrideProvider?.call(this.middleware, options) ?? model.provider
    const modelId = overrideModelId?.call(this.middleware, options) ?? model.modelId
    return provider === '' ? modelId : `${provider}/${modelId}`
  }
}

function named(response: ModelResponse, model: string | undefined): ModelResponse {
  return model === undefined ? response : { ...response, model }
}
