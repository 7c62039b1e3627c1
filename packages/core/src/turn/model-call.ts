import type { ModelEnd } from '../events/events.ts'
import { copyMessage, equalJson, freezeJson } from '../messages/json.ts'
import type { Message } from '../messages/message.ts'
import type { ModelWarning } from '../model/chunk.ts'
import {
  type KnownModel,
  modelId,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '../model/model.ts'
import { copyDetails, finishOf, type ModelResponse, needsNextCall } from '../model/response.ts'
import type { Counted } from './physical-call.ts'
import type { Turn } from './turn.ts'
import { TurnCall } from './turn-call.ts'

/** The fields of a model call that layers may change, and that are sent. Attempts share them until one writes. */
export interface CallFields {
  /** Undefined until a layer reads it. Then the turn's working view is sent unchanged. */
  messages: readonly Message[] | undefined
  model: KnownModel
  settings: Readonly<Settings>
  toolDefs: readonly ToolDef[]
  toolChoice: ToolChoice
  responseFormat: ResponseFormat
}

/** Bits for the parts that an attempt owns: its record of fields, and the fields in it that can be changed in place. */
export const Own = { record: 1, messages: 2, settings: 4, toolDefs: 8 } as const
export const looks = Own.messages | Own.settings | Own.toolDefs

/** Copies the fields that a layer could still change through a reference. */
export function copyLooked(fields: CallFields, looked: number): CallFields {
  return {
    ...fields,
    ...((looked & Own.messages) !== 0 && { messages: fields.messages?.map(frozen) }),
    ...((looked & Own.settings) !== 0 && { settings: { ...fields.settings } }),
    ...((looked & Own.toolDefs) !== 0 && { toolDefs: [...fields.toolDefs] }),
  }
}

/** Returns the message if it is frozen, otherwise a frozen copy. */
function frozen(message: Message): Message {
  return Object.isFrozen(message) ? message : freezeJson(copyMessage(message))
}

/** One model call with one answer. It may have several attempts. */
export class ModelCall extends TurnCall {
  readonly callIndex: number
  /** The id of the model that was called last. */
  model: string
  /** The provider calls so far, including those of failed and abandoned attempts. */
  readonly physical: Counted[] = []

  constructor(turn: Turn) {
    super(turn.rings.model, turn.options.onion.model, turn)
    this.callIndex = turn.callIndex++
    this.model = modelId(turn.options.model)
  }

  /** Returns the fields that the outermost layer starts with. */
  start(): CallFields {
    const { model, settings, format, tools } = this.turn.options
    const { defs } = tools
    return {
      messages: undefined,
      model,
      settings,
      toolDefs: format?.tool === undefined ? defs : [...defs, format.tool],
      toolChoice: format?.tool === undefined ? 'auto' : 'required',
      responseFormat: format?.responseFormat ?? text,
    }
  }

  /** Returns the messages to send if no layer has read them: the instructions, then the working view. */
  messages(): Message[] {
    const { system, view } = this.turn
    return system === undefined ? view.working.slice() : [system, ...view.working]
  }
}

const text: ResponseFormat = { type: 'text' }

/** Starts a model call and a new answer in the stream. */
export function beginCall(turn: Turn): ModelCall {
  turn.answer.beginAnswer()
  const call = new ModelCall(turn)
  const { observers } = turn.session.agent
  if (observers.events.has('model:start')) {
    const { model, callIndex } = call
    observers.emit('model:start', { type: 'model:start', ...turn.location, model, callIndex })
  }
  return call
}

/**
 * Emits the events of a model call and adds its answer to the history. `followed`: a message came in, so another step
 * follows.
 */
export function callEnded(call: ModelCall, response: ModelResponse, followed: boolean): void {
  const { turn } = call
  const { model, warnings } = response
  if (warnings !== undefined) warn(turn, model, warnings)
  const isFollowed = followed || needsNextCall(response)
  turn.answer.outputSink.finish(finishOf(response), isFollowed)
  emitEnd(call, model, response)
  turn.answer.commit(response, isFollowed)
}

export function callFailed(call: ModelCall, error: unknown): void {
  emitEnd(call, call.model, undefined, error)
}

function emitEnd({ turn, callIndex }: ModelCall, model: string, response?: ModelResponse, error?: unknown): void {
  const { observers } = turn.session.agent
  if (!observers.events.has('model:end')) return
  const end: ModelEnd = { type: 'model:end', ...turn.location, model, callIndex }
  if (response === undefined) end.error = error
  else {
    end.finishReason = response.finishReason
    end.usage = { ...response.usage }
    copyDetails(end, response)
  }
  observers.emit('model:end', end)
}

function warn(turn: Turn, model: string, warnings: readonly ModelWarning[]): void {
  const known = turn.answer.warnings
  for (const warning of warnings) {
    turn.send({ type: 'model:warning', ...turn.location, model, warning: { ...warning } })
    if (!known.some((one) => equalJson(one, warning))) known.push(warning)
  }
}
