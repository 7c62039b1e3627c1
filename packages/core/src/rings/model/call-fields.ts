import { copyMessage } from '../../messages/copy-message.ts'
import { freezeJson } from '../../messages/json.ts'
import type { Message } from '../../messages/message.ts'
import type { KnownModel, ResponseFormat, Settings, ToolChoice, ToolDef } from '../../model/model.ts'

/** What layers may change of a model call, and what is sent. Shared by attempts until one of them writes. */
export interface CallFields {
  /** Undefined while nobody has looked: then the turn's working view is sent as it is. */
  messages: readonly Message[] | undefined
  model: KnownModel
  settings: Readonly<Settings>
  toolDefs: readonly ToolDef[]
  toolChoice: ToolChoice
  responseFormat: ResponseFormat
}

/** Bits of what an attempt has of its own: its record of fields, and what in it can be changed in place. */
export const Own = { record: 1, messages: 2, settings: 4, toolDefs: 8 } as const
export const looks = Own.messages | Own.settings | Own.toolDefs

/** The fields without what a layer could still reach into. */
export function copyLooked(fields: CallFields, looked: number): CallFields {
  return {
    ...fields,
    ...((looked & Own.messages) !== 0 && { messages: fields.messages?.map(frozen) }),
    ...((looked & Own.settings) !== 0 && { settings: { ...fields.settings } }),
    ...((looked & Own.toolDefs) !== 0 && { toolDefs: [...fields.toolDefs] }),
  }
}

/** The message itself where it cannot change, else a copy that cannot. */
function frozen(message: Message): Message {
  return Object.isFrozen(message) ? message : freezeJson(copyMessage(message))
}
