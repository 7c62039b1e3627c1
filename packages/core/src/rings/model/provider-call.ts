import { AlliumError } from '../../errors/allium-error.ts'
import { cleanUsage } from '../../messages/usage.ts'
import type { ContentChunk, FinishChunk } from '../../model/chunk.ts'
import { describeModel, isModel, type Model, modelId } from '../../model/model.ts'
import { detailsOf, type ModelResponse } from '../../model/response.ts'
import { isOpen } from '../../onion/attempt.ts'
import { succeed, whenDone } from '../../onion/next.ts'
import type { Emit } from '../../seams/journal.ts'
import { Assembly } from '../../stream/assembly.ts'
import { saidBy } from '../../stream/said.ts'
import type { ModelAttempt } from './context.ts'
import { Reading } from './reading.ts'
import { UniqueCallIds } from './unique-call-ids.ts'

/** The core of the model scope: one physical call of a provider, through the journal, into the stream. */
export function callProvider(core: ModelAttempt): void {
  const { model } = core.$fields
  core.$call.model = modelId(model)
  if (isModel(model)) return streamAnswer(core, model)
  if (typeof model !== 'string') throw notModel(`A model call takes a model or a string, but ${describeModel(model)}.`)
  whenDone(core, resolve(core, model), (resolved) => streamAnswer(core, resolved))
}

async function resolve(core: ModelAttempt, ref: string): Promise<Model> {
  const { agent, principal } = core.$turn.session
  const { resolveModel } = agent.setup
  if (resolveModel === undefined)
    throw new AlliumError(
      'model.unresolved',
      `The model "${ref}" is a string, but this agent has no resolveModel. Import Agent from "allium", which has one, or give a model object.`,
    )
  const model = await resolveModel(ref, { principal })
  if (!isModel(model))
    throw notModel(
      `resolveModel was asked for "${ref}", but ${describeModel(model)}. A model has an id and a stream(request).`,
    )
  return model
}

function notModel(what: string): AlliumError {
  return new AlliumError('model.invalid', what)
}

function streamAnswer(core: ModelAttempt, model: Model): void {
  const { $turn: turn, $call: call } = core
  turn.countCall()
  const assembly = new Assembly(model.id)
  let ids: UniqueCallIds | undefined
  const take = (chunk: ContentChunk) => {
    if (!isOpen(core)) return
    if ('callId' in chunk) ids ??= new UniqueCallIds(turn.session, assembly)
    const named = ids === undefined ? chunk : ids.name(chunk)
    assembly.add(named)
    return core.$sink?.push(named)
  }
  const id = `${turn.turnId}:model:${call.callIndex}:${core.$number}`
  const work = (emit: Emit<ContentChunk>) => physicalCall(core, model, emit)
  const finish = turn.session.agent.setup.journal.step(id, work, take) as PromiseLike<FinishChunk>
  whenDone(core, finish, (finish) => succeed(core, respond(core, model, assembly, finish)))
}

function respond(core: ModelAttempt, model: Model, assembly: Assembly, finish: FinishChunk): ModelResponse {
  assembly.close()
  const usage = cleanUsage(finish.usage, 1)
  core.$turn.count(usage)
  core.$said = saidBy(assembly)
  const toolCalls = assembly.toolCalls()
  const { text, reasoning } = assembly
  const message = assembly.message(toolCalls)
  const response: ModelResponse = { text, toolCalls, finishReason: finish.reason, usage, model: model.id, message }
  if (reasoning !== undefined) response.reasoning = reasoning
  return Object.assign(response, detailsOf(finish))
}

/** Reads the provider's stream to its finish, unless the attempt was over before it could begin. */
function physicalCall(core: ModelAttempt, model: Model, emit: Emit<ContentChunk>): Promise<FinishChunk> {
  if (!isOpen(core)) return Promise.reject(core.$outcome)
  return new Promise((resolve, reject) => {
    const reading = new Reading(core, model, resolve, reject)
    core.$work = reading
    void reading.read(emit)
  })
}
