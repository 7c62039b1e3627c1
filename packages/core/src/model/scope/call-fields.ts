import { copyMessage, freezeJson } from '../../messages/json.ts'
import type { Message } from '../../messages/message.ts'
import type { CallFields } from '../../turn/model-call.ts'

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
