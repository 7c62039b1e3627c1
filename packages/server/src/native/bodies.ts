import type { Decision } from '@allium/core'
import { clientTool, clientTools, outputSchema } from '../request/client-schemas.ts'
import { object, record, variants } from '../request/containers.ts'
import { base64, content, filename, mediaType } from '../request/content.ts'
import { id, messageId, sessionId, token } from '../request/fields.ts'
import {
  anyObject,
  anything,
  coded,
  described,
  flag,
  mapped,
  named,
  oneOf,
  optional,
  type Schema,
  text,
} from '../request/schema.ts'
import { rejection, type ValueLocation } from '../request/value-location.ts'

/** A part of a client's input on the native routes. */
const inputPart = variants('type', {
  text: object({ type: oneOf('text'), text: text() }),
  image: object({ type: oneOf('image'), data: base64, mediaType }),
  file: object({ type: oneOf('file'), data: base64, mediaType, filename: optional(filename) }),
})

const messageContent = content(named('InputPart', inputPart))

const output = described(optional(outputSchema), 'A JSON Schema of an object. The answer is JSON that fits it.')

const decisionFields = {
  approve: optional(oneOf(true)),
  deny: optional(text({ max: 10_000 })),
  args: optional(anyObject()),
  data: described(optional(anything()), 'Data for the layer that waits.'),
}

const decision: Schema<Decision> = coded(
  mapped(
    object(
      { ...decisionFields, result: optional(anything()), isError: optional(flag()), token: optional(token) },
      {
        description:
          'Exactly one of approve, deny and args, or result for a call that the client runs, with the token of the call.',
      },
    ),
    (value, location) => {
      checkExactlyOne(value, ['approve', 'deny', 'args', 'result'], location)
      if (value.isError !== undefined && value.result === undefined)
        throw rejection(location, 'has `isError` without `result`. Give `isError` only with the result of a call.')
      return value as Decision
    },
  ),
  'approval.invalid',
)

export const components = {
  InputPart: inputPart.json,
  ClientTool: clientTool.json,
  Decision: decision.json,
}

export const runBody = object(
  {
    input: described(optional(messageContent), 'Without it, the stored message `messageId` is answered again.'),
    messageId: described(
      optional(messageId),
      'The id of the message in the history. It replaces a message with this id, and all later ones.',
    ),
    clientTools: described(
      optional(clientTools(named('ClientTool', clientTool))),
      'Tools that the client runs. The run waits for their results.',
    ),
    output,
  },
  { anyOf: [{ required: ['input'] }, { required: ['messageId'] }] },
)

export const decisionsBody = object({
  decisions: described(
    record(named('Decision', decision), { min: 1, max: 1000, maxKey: 1000 }),
    'Decisions by call id.',
  ),
  output,
})

export const approvalBody = mapped(
  object(
    { token, ...decisionFields },
    { description: 'Exactly one of approve, deny and args, with the token of the call.' },
  ),
  ({ token: callToken, ...value }, location) => {
    checkExactlyOne(value, ['approve', 'deny', 'args'], location)
    return { token: callToken, decision: value as Decision }
  },
)

export const steerBody = object({
  message: messageContent,
  id: described(
    optional(text({ min: 1, max: 256 })),
    'The id of the message in events, the same after a lost connection. Default: a new id.',
  ),
})

export const forkBody = object({
  id: described(optional(sessionId), 'The id of the new session. Default: a new id.'),
  at: described(optional(id), 'The run after which the new session starts. Default: the latest one.'),
})

export const noBody = optional(object({}))

function checkExactlyOne(value: object, names: readonly string[], location: ValueLocation): void {
  const count = names.filter((name) => Object.hasOwn(value, name)).length
  if (count !== 1) throw rejection(location, `must have exactly one of ${names.join(', ')}, but has ${count}.`)
}
