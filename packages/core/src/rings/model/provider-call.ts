import { AbortError } from '../../errors/abort-error.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { describe } from '../../errors/describe.ts'
import { cleanUsage } from '../../messages/usage.ts'
import type { ContentChunk, FinishChunk } from '../../model/chunk.ts'
import { isModel, type Model } from '../../model/model.ts'
import type { ModelResponse } from '../../model/response.ts'
import { silence } from '../../onion/thenable.ts'
import type { Emit } from '../../seams/journal.ts'
import { Assembly } from '../../stream/assembly.ts'
import { isContentKind } from '../../stream/chunk-kinds.ts'
import { saidBy } from '../../stream/said.ts'
import type { ModelCall } from './model-call.ts'
import { ProviderRequest } from './request.ts'
import { UniqueCallIds } from './unique-call-ids.ts'

/** The core of the model scope: one physical call of a provider, through the journal, into the stream. */
export function callProvider(call: ModelCall): PromiseLike<ModelResponse> {
  const { model } = call.fields.now
  if (typeof model !== 'string') return streamAnswer(call, model)
  return resolve(call, model).then((resolved) => streamAnswer(call, resolved))
}

async function resolve(call: ModelCall, ref: string): Promise<Model> {
  const { agent, principal } = call.turn.session
  const { resolveModel } = agent.setup
  if (resolveModel === undefined)
    throw new AlliumError(
      'model.unresolved',
      `The model "${ref}" is a string, but this agent has no resolveModel. Import Agent from "allium", which has one, or give a model object.`,
    )
  const model = await resolveModel(ref, { principal })
  if (!isModel(model))
    throw new AlliumError(
      'model.invalid',
      `resolveModel gave ${describe(model)} for "${ref}". A model has an id and a stream(request).`,
    )
  return model
}

function streamAnswer(call: ModelCall, model: Model): PromiseLike<ModelResponse> {
  const { turn } = call
  const { sink } = call.fields.now
  turn.countCall()
  const assembly = new Assembly(model.id)
  let ids: UniqueCallIds | undefined
  const take = (chunk: ContentChunk) => {
    if ('callId' in chunk) ids ??= new UniqueCallIds(turn.session, assembly)
    const named = ids === undefined ? chunk : ids.name(chunk)
    assembly.add(named)
    return sink.push(named)
  }
  const id = `${turn.turnId}:model:${call.callIndex}:${call.attempt}`
  const work = (emit: Emit<ContentChunk>) => physicalCall(call, model, emit)
  const finish = turn.session.agent.setup.journal.step(id, work, take) as PromiseLike<FinishChunk>
  return finish.then((finish) => respond(call, model, assembly, finish))
}

function respond(call: ModelCall, model: Model, assembly: Assembly, finish: FinishChunk): ModelResponse {
  assembly.close()
  const usage = cleanUsage(finish.usage, 1)
  call.turn.count(usage)
  call.said = saidBy(assembly)
  const toolCalls = assembly.toolCalls()
  const { text, reasoning } = assembly
  const message = assembly.message(toolCalls)
  const response: ModelResponse = { text, toolCalls, finishReason: finish.reason, usage, model: model.id, message }
  if (reasoning !== undefined) response.reasoning = reasoning
  return response
}

/** Reads the provider's stream to its finish. Leaves at once, and closes it, when the call is cancelled or left. */
function physicalCall(call: ModelCall, model: Model, emit: Emit<ContentChunk>): Promise<FinishChunk> {
  return new Promise((resolve, reject) => {
    const reading = new Reading(call, model, resolve, reject)
    if (reading.open) void reading.read(emit)
  })
}

/** A provider's stream while it is read. */
class Reading {
  open = true
  readonly #call: ModelCall
  readonly #model: Model
  readonly #request: ProviderRequest
  readonly #resolve: (finish: FinishChunk) => void
  readonly #reject: (error: unknown) => void
  #iterator: AsyncIterator<unknown> | undefined
  readonly #leave = (reason: unknown = new AbortError('the call was left')) => this.#fail(reason, reason)

  constructor(call: ModelCall, model: Model, resolve: (finish: FinishChunk) => void, reject: (error: unknown) => void) {
    this.#call = call
    this.#model = model
    this.#resolve = resolve
    this.#reject = reject
    this.#request = new ProviderRequest(call)
    call.live = this.#leave
    call.cancel.on(this.#leave)
  }

  async read(emit: Emit<ContentChunk>): Promise<void> {
    const model = this.#model
    try {
      const iterator = (this.#iterator = model.stream(this.#request)[Symbol.asyncIterator]())
      for (;;) {
        const { done, value } = await iterator.next()
        if (!this.open) return
        if (done === true) throw truncated(model)
        const chunk = checked(value, model)
        if (chunk === undefined) continue
        if (chunk.type === 'finish') {
          this.#shut()
          return this.#resolve(chunk)
        }
        const wait = emit(chunk)
        if (wait !== undefined) await wait
      }
    } catch (error) {
      this.#fail(error, new AbortError('the call failed'))
    }
  }

  #fail(error: unknown, reason: unknown): void {
    if (!this.open) return
    this.#shut()
    this.#request.abort(reason)
    this.#reject(error)
  }

  #shut(): void {
    this.open = false
    this.#call.cancel.off(this.#leave)
    this.#call.live = undefined
    silence(this.#iterator?.return?.())
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
