import type { ToolDef } from '@allium/core'
import { clientTool, clientTools } from '../request/client-schemas.ts'
import { list, openObject, record } from '../request/containers.ts'
import { maxMessages } from '../request/content.ts'
import { agentName } from '../request/fields.ts'
import { anyObject, flag, mapped, nullable, oneOf, type Schema, text } from '../request/schema.ts'
import { responseInput } from './items.ts'
import { chatMessage } from './messages.ts'
import { chatFormat, responseFormat } from './output-format.ts'
import { toolChoice, unsupportedInChat, unsupportedInResponses } from './parameters.ts'

const definition = {
  name: text(),
  description: nullable(text()),
  parameters: nullable(anyObject()),
}
type Definition = ReturnType<ReturnType<typeof openObject<typeof definition>>['parse']>

function toolOf({ name, description = '', parameters = noArgs }: Definition): Record<string, unknown> {
  return { name, description, jsonSchema: parameters }
}
const noArgs = { type: 'object', properties: {} }

/** In Chat Completions the function is a field of the tool, in Responses it is the tool. Tools of other types run at OpenAI, not here. */
const chatTool: Schema<ToolDef> = mapped(
  openObject({ type: oneOf('function'), function: openObject(definition) }),
  ({ function: fn }, location) => clientTool.parse(toolOf(fn), location),
)
const responseTool: Schema<ToolDef> = mapped(openObject({ type: oneOf('function'), ...definition }), (fn, location) =>
  clientTool.parse(toolOf(fn), location),
)

/** https://platform.openai.com/docs/api-reference/chat/create */
export const completionBody = openObject({
  model: agentName,
  messages: list(chatMessage, { min: 1, max: maxMessages }),
  stream: nullable(flag()),
  stream_options: nullable(openObject({ include_usage: nullable(flag()) })),
  tools: nullable(clientTools(chatTool)),
  tool_choice: toolChoice,
  response_format: chatFormat,
  ...unsupportedInChat,
})

/** https://platform.openai.com/docs/api-reference/responses/create, and https://www.openresponses.org/reference */
export const responseBody = openObject({
  model: agentName,
  input: responseInput,
  stream: nullable(flag()),
  store: nullable(flag()),
  previous_response_id: nullable(text({ min: 1, max: 10_000 })),
  metadata: nullable(record(text({ max: 512 }), { max: 16, maxKey: 64 })),
  tools: nullable(clientTools(responseTool)),
  tool_choice: toolChoice,
  text: nullable(openObject({ format: responseFormat })),
  ...unsupportedInResponses,
})
