import type { Message, ModelResponse, Part, ToolContext, ToolResult } from '@allium/core'
import type { Attributes } from '@opentelemetry/api'
import { toPlainData } from '../plain-data.ts'
import { finishReasonOf } from './call-attributes.ts'
import { names } from './names.ts'

/** Returns the content as JSON in the form of the conventions. */
export function inputContent(messages: readonly Message[]): Attributes {
  const instructions = messages.filter(({ role }) => role === 'system').flatMap(partsOf)
  const rest = messages.filter(({ role }) => role !== 'system')
  return {
    ...(instructions.length > 0 && { [names.instructions]: json(instructions) }),
    [names.inputMessages]: json(rest.map((message) => ({ role: message.role, parts: partsOf(message) }))),
  }
}

export function outputContent({ message, finishReason }: ModelResponse): Attributes {
  const outputMessage = { role: 'assistant', parts: partsOf(message), finish_reason: finishReasonOf(finishReason) }
  return { [names.outputMessages]: json([outputMessage]) }
}

export function argumentsContent({ args }: ToolContext): Attributes {
  return { [names.toolArguments]: json(args) }
}

export function resultContent({ content }: ToolResult): Attributes {
  return { [names.toolResult]: typeof content === 'string' ? content : json(content) }
}

function partsOf({ content }: Message): object[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content }]
  return content.map(partOf)
}

function partOf(part: Part): object {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text }
    case 'tool-call':
      return { type: 'tool_call', id: part.callId, name: part.name, arguments: part.args }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.callId, response: part.content }
    case 'custom':
      return { type: part.kind }
    default:
      return { type: part.type, media_type: part.mediaType }
  }
}

function json(value: unknown): string {
  return JSON.stringify(toPlainData(value))
}
