import type { ClientCall } from '../approvals/client-calls.ts'
import { parseJson } from '../request/body.ts'
import { list, openObject, textOr, variants } from '../request/containers.ts'
import { type ContentPart, content, dataUrl, filePart, maxParts, textPart } from '../request/content.ts'
import { id } from '../request/fields.ts'
import { mapped, nullable, oneOf, optional, type Schema, text } from '../request/schema.ts'
import { childLocation, rejection, violation } from '../request/value-location.ts'

/** A message of a client, of Chat Completions or of Responses. */
export type ChatMessage =
  | { readonly role: 'system' | 'developer' }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ClientCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string }

/** A text, as one string or in parts. */
const textContent = (separator: string): Schema<string> =>
  mapped(textOr(text(), list(openObject({ text: text() }), { max: maxParts })), (value) =>
    typeof value === 'string' ? value : value.map((part) => part.text).join(separator),
  )

/** The result of a tool, whose texts are apart. */
export const resultContent: Schema<string> = textContent('\n')

const answerContent = textContent('')

const imageUrl = mapped(dataUrl, (file, location): ContentPart => {
  const part = filePart(file)
  if (part.type === 'image') return part
  throw violation(location, 'an image as a data URL in base64', file.mediaType)
})
const image = mapped(textOr(imageUrl, openObject({ url: imageUrl })), (value) => ('url' in value ? value.url : value))

/** Texts and images of a user, as parts of Chat Completions and of Responses. */
const userPart: Schema<ContentPart> = variants('type', {
  text: textPart,
  input_text: mapped(openObject({ type: oneOf('input_text'), text: text() }), (part) => ({ ...part, type: 'text' })),
  image_url: mapped(openObject({ type: oneOf('image_url'), image_url: image }), (part) => part.image_url),
  input_image: mapped(openObject({ type: oneOf('input_image'), image_url: image }), (part) => part.image_url),
} as Record<string, Schema<ContentPart>>)

export const userContent = content(userPart)

/** The arguments of a call: JSON in a string, with the limits of depth and size that a body has. */
export const callArguments: Schema<ClientCall['args']> = mapped(text(), (json, location) => {
  const value = parseJson(json, (reason) => rejection(location, reason))
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
})

const toolCall: Schema<ClientCall> = mapped(
  openObject({
    id: text({ max: 1000 }),
    function: openObject({ name: text({ max: 1000 }), arguments: callArguments }),
  }),
  ({ id: callId, function: { name, arguments: args } }) => ({ id: callId, name, args }),
)

/** Instructions are ignored, because the agent has its own. */
const ignoredMessage = <R extends 'system' | 'developer'>(role: R) => openObject({ role: oneOf(role) })

/** The text of an answer; null for an empty one. */
export const assistantText: Schema<string> = {
  ...answerContent,
  json: { anyOf: [answerContent.json, { type: 'null' }] },
  parse: (value, location) => (value === null ? '' : answerContent.parse(value, location)),
}

const assistant: Schema<ChatMessage> = mapped(
  openObject({
    role: oneOf('assistant'),
    content: optional(assistantText),
    tool_calls: nullable(list(toolCall, { max: 1000 })),
  }),
  ({ role, content: answerText, tool_calls: calls = [] }, location) => {
    if (answerText === undefined && calls.length === 0)
      throw violation(childLocation(location, 'content'), answerContent.expected, undefined)
    return { role, text: answerText ?? '', calls }
  },
)

const tool: Schema<ChatMessage> = mapped(
  openObject({ role: oneOf('tool'), tool_call_id: id, content: resultContent }),
  ({ role, tool_call_id: callId, content: resultText }) => ({ role, id: callId, text: resultText }),
)

/** A message of Chat Completions. */
export const chatMessage: Schema<ChatMessage> = variants('role', {
  system: ignoredMessage('system'),
  developer: ignoredMessage('developer'),
  user: openObject({ role: oneOf('user'), content: userContent }) as Schema<ChatMessage>,
  assistant,
  tool,
})
