import { silence } from '../compose/thenable.ts'
import { AbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { cleanUsage } from '../messages/usage.ts'
import { Assembly } from '../model/assembly.ts'
import type { ContentChunk, FinishChunk } from '../model/chunk.ts'
import { isModel, type Model, type ModelRequest } from '../model/model.ts'
import type { ModelResponse } from '../model/response.ts'
import { saidBy } from '../model/said.ts'
import type { ModelCall } from '../scopes/model-call.ts'
import type { Emit } from '../seams/journal.ts'
import { buildRequest } from './request.ts'
import { uniqueCallIds } from './unique-call-ids.ts'

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
  const assembly = new Assembly(model.id)
  const unique = uniqueCallIds(turn.session)
  const take = (chunk: ContentChunk) => {
    const named = 'callId' in chunk ? unique(chunk) : chunk
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
  call.turn.usage.calls++
  return new Promise((resolve, reject) => {
    const place = call.cancel
    const { request, cancel } = buildRequest(call)
    let iterator: AsyncIterator<unknown> | undefined
    const stream: OpenStream = { open: true }
    const shut = () => {
      stream.open = false
      place.off(leave)
      call.live = undefined
      silence(iterator?.return?.())
    }
    const leave = (reason: unknown = new AbortError('the call was left')) => {
      if (!stream.open) return
      cancel.abort(reason)
      shut()
      reject(reason)
    }
    place.on(leave)
    if (!stream.open) return
    call.live = leave
    const fail = (error: unknown) => {
      if (!stream.open) return
      shut()
      cancel.abort(new AbortError('the call failed'))
      reject(error)
    }
    try {
      iterator = streamOf(model, request)
    } catch (error) {
      return fail(error)
    }
    void read(
      iterator,
      model,
      emit,
      stream,
      (finish) => {
        shut()
        resolve(finish)
      },
      fail,
    )
  })
}

interface OpenStream {
  open: boolean
}

function streamOf(model: Model, request: ModelRequest): AsyncIterator<unknown> {
  return model.stream(request)[Symbol.asyncIterator]()
}

async function read(
  iterator: AsyncIterator<unknown>,
  model: Model,
  emit: Emit<ContentChunk>,
  stream: OpenStream,
  finished: (finish: FinishChunk) => void,
  failed: (error: unknown) => void,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await iterator.next()
      if (!stream.open) return
      if (done === true) throw truncated(model)
      const chunk = checked(value, model)
      if (chunk === undefined) continue
      if (chunk.type === 'finish') return finished(chunk)
      const wait = emit(chunk)
      if (wait !== undefined) await wait
    }
  } catch (error) {
    failed(error)
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
  const chunk = value as ContentChunk | FinishChunk
  switch (chunk?.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      if (typeof chunk.delta === 'string') return chunk
      throw new AlliumError(
        'model.protocol',
        `The model "${model.id}" sent a ${chunk.type} whose delta is ${describe(chunk.delta)}. It is a text.`,
      )
    case 'tool-input-start':
    case 'tool-input-end':
    case 'tool-result':
    case 'file':
    case 'source':
    case 'finish':
      return chunk
  }
}
