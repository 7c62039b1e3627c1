import { copyMessage, freezeJson } from '../messages/json.ts'
import type { Message } from '../messages/message.ts'
import {
  type KnownModel,
  modelId,
  type ResponseFormat,
  type Settings,
  type ToolChoice,
  type ToolDef,
} from '../model/model.ts'
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
