import { type ContentChunk, type FinishChunk, followSignal, type ModelContext, type ModelResponse } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import type { AiSdkMiddleware, GenerateResult, Params, StreamPart } from './ai-sdk-middleware.ts'
import { assemble } from './assemble.ts'
import { AttemptSource } from './attempt-source.ts'
import { fromGenerateResult, toGenerateResult } from './generate-result.ts'
import { keyOf } from './key-of.ts'
import { MiddlewareOutput } from './middleware-output.ts'
import { Originals } from './originals.ts'
import { Request } from './request.ts'

/** An attempt that a middleware requested. */
interface AttemptRequest {
  params: Params
  resolve(source: AttemptSource): void
  reject(error: unknown): void
}

type AttemptOutcome = { response: ModelResponse } | { error: unknown }

/**
 * One model call through one AI SDK middleware. The pipe of the requested attempt reads the middleware's output, so that it streams.
 * If no attempt was requested, the layer reads it.
 */
export class MiddlewareCall {
  readonly #originals = new Originals()
  readonly #request: Request
  readonly #facade: AiSdkModel
  #params: Params
  #output!: MiddlewareOutput
  /** The running attempt. */
  #source: AttemptSource | undefined
  /** A restarted attempt, for the run of the middleware that begins with it. */
  #restarted: AttemptSource | undefined
  /** Requested attempts that have not begun; they run one after the other. */
  readonly #queue: AttemptRequest[] = []
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
    // With only wrapGenerate, the middleware needs the complete answer; streaming would show text that it is going to change.
    const type = wrapStream === undefined && wrapGenerate !== undefined ? 'generate' : 'stream'
    if (transformParams !== undefined)
      this.#params = (await transformParams.call(this.middleware, {
        type,
        params: this.#params,
        model,
      } as never)) as Params
    if (wrapStream === undefined && wrapGenerate === undefined) {
      this.#request.apply(this.#params)
      return withModelId(await this.next(), this.#overridden())
    }
    this.ctx.pipe((chunks, end) => this.#pipe(new AttemptSource(chunks, end, model, this.#originals)))
    return this.#raceAbort()
  }

  async #raceAbort(): Promise<ModelResponse> {
    let unfollow = () => {}
    const aborted = new Promise<never>((_, reject) => {
      unfollow = followSignal(this.ctx.signal, reject)
    })
    try {
      return await Promise.race([this.#answers(), aborted])
    } catch (error) {
      this.#output?.abandon(error)
      throw error
    } finally {
      unfollow()
    }
  }

  async #answers(): Promise<ModelResponse> {
    this.#start()
    let lastOutcome: AttemptOutcome | undefined
    for (let attemptRequest = await this.#nextAttempt(); attemptRequest !== undefined; attemptRequest = this.#queue[0])
      lastOutcome = await this.#attempt(attemptRequest)
    const { end: outputEnd } = this.#output
    if (
      lastOutcome !== undefined &&
      'error' in lastOutcome &&
      (outputEnd?.finish === undefined || this.ctx.signal.aborted)
    )
      throw outputEnd?.error ?? lastOutcome.error
    if (outputEnd?.finish === undefined) throw outputEnd?.error
    if (lastOutcome !== undefined && 'response' in lastOutcome)
      return this.#withFinish(lastOutcome.response, outputEnd.finish)
    const response = assemble(this.#output.chunks, outputEnd.finish, this.#overridden() ?? this.ctx.model)
    return lastOutcome === undefined ? this.ctx.skipCall(response) : response
  }

  /** Reads the middleware's output until it requests an attempt or ends. */
  async #nextAttempt(): Promise<AttemptRequest | undefined> {
    const attemptRequested = new Promise<undefined>((resolve) => {
      this.#wake = () => resolve(undefined)
    })
    for (let at = 0; this.#queue[0] === undefined; at++) {
      const chunk = await Promise.race([this.#output.at(at), attemptRequested])
      if (this.#queue[0] !== undefined) return this.#queue[0]
      if (chunk === undefined) return undefined
    }
    return this.#queue[0]
  }

  async #attempt(attemptRequest: AttemptRequest): Promise<AttemptOutcome> {
    try {
      this.#request.apply(attemptRequest.params)
      return { response: await this.next() }
    } catch (error) {
      // The attempt never began.
      if (this.#queue[0] === attemptRequest) {
        this.#queue.shift()
        attemptRequest.reject(error)
        await this.#nextAttempt()
      }
      return { error }
    }
  }

  /** The pipe of one attempt, which yields the middleware's output. */
  async *#pipe(source: AttemptSource): AsyncGenerator<ContentChunk> {
    this.#open(source)
    const output = this.#output
    for (let at = 0; ; at++) {
      const chunk = await Promise.race([output.at(at), source.abandoned])
      if (source.isAbandoned || chunk === undefined) break
      yield chunk
    }
    if (!source.isAbandoned && output.end?.error !== undefined && source.failure === undefined) throw output.end.error
    await source.drain()
  }

  /** Begins an attempt that was requested, or that restarts after a reset by an inner layer. */
  #open(source: AttemptSource): void {
    const before = this.#source
    this.#source = source
    const attemptRequest = this.#queue.shift()
    if (attemptRequest !== undefined) {
      if (this.#queue.length > 0) source.abandon()
      return attemptRequest.resolve(source)
    }
    if (before === undefined) return
    before.next = source
    if (before.isBuffered) {
      source.isBuffered = true
      return
    }
    this.#output.abandon(new Error('The answer was restarted.'))
    this.#restarted = source
    this.#start()
  }

  /** Runs the middleware. */
  #start(): void {
    this.#output = new MiddlewareOutput(this.#run(), this.layer, this.#facade, this.#originals)
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
    return toGenerateResult(await (await this.#call(params)).readAll())
  }

  /** Attempts run one after the other: one begins when the previous one has ended. */
  #call(params: Params): Promise<AttemptSource> {
    const restarted = this.#restarted
    this.#restarted = undefined
    if (restarted !== undefined) return Promise.resolve(restarted)
    return new Promise((resolve, reject) => {
      this.#queue.push({ params, resolve, reject })
      this.#source?.abandon()
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

  /** Returns the response of the attempt, with the middleware's information about its end. */
  #withFinish(
    response: ModelResponse,
    { reason, rawReason, providerMetadata, responseId, warnings }: FinishChunk,
  ): ModelResponse {
    const changes: Partial<ModelResponse> = {}
    if (reason !== response.finishReason) Object.assign(changes, { finishReason: reason, rawFinishReason: rawReason })
    if (providerMetadata !== undefined) changes.providerMetadata = providerMetadata
    if (responseId !== undefined) changes.responseId = responseId
    if (warnings !== undefined) changes.warnings = warnings
    const isUnchanged = Object.entries(changes).every(
      ([name, value]) => keyOf(response[name as keyof ModelResponse]) === keyOf(value),
    )
    return withModelId(isUnchanged ? response : { ...response, ...changes }, this.#overridden())
  }

  /** Returns the model's name for observers. */
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

function withModelId(response: ModelResponse, model: string | undefined): ModelResponse {
  return model === undefined ? response : { ...response, model }
}
