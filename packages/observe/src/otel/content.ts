import type { Message, ModelResponse, Part, ToolContext, ToolDef, ToolResult } from '@allium/core'
import { plainJson } from '../plain-data.ts'
import { finishReasonOf } from './call-values.ts'
import type { Values } from './conventions.ts'
import type { PartNames } from './names.ts'

/** Returns the content as JSON in the form of the conventions. */
export function inputContent(messages: readonly Message[], names: PartNames): Values {
  const instructions = messages.filter(({ role }) => role === 'system').flatMap((message) => partsOf(message, names))
  const rest = messages.filter(({ role }) => role !== 'system')
  return {
    instructions: instructions.length > 0 ? plainJson(instructions) : undefined,
    inputMessages: plainJson(rest.map((message) => ({ role: message.role, parts: partsOf(message, names) }))),
  }
}

export function outputContent({ message, finishReason }: ModelResponse, names: PartNames): Values {
  const parts = partsOf(message, names)
  return { outputMessages: plainJson([{ role: 'assistant', parts, finish_reason: finishReasonOf(finishReason) }]) }
}

export function definitionsContent(tools: readonly ToolDef[]): Values {
  if (tools.length === 0) return {}
  return {
    toolDefinitions: plainJson(
      tools.map(({ name, description, jsonSchema }) => ({
        type: 'function',
        name,
        description,
        parameters: jsonSchema,
      })),
    ),
  }
}

export function argumentsContent({ args }: ToolContext): Values {
  return { toolArguments: plainJson(args) }
}

export function resultContent({ content }: ToolResult): Values {
  return { toolResult: typeof content === 'string' ? content : plainJson(content) }
}

function partsOf({ content }: Message, names: PartNames): object[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', content }]
  return content.map((part) => partOf(part, names))
}

function partOf(part: Part, { fixed, kind, mediaType }: PartNames): object {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text }
    case 'tool-call':
      return { type: 'tool_call', id: part.callId, name: part.name, arguments: part.args }
    case 'tool-result':
      return { type: 'tool_call_response', id: part.callId, response: part.content }
    case 'custom':
      return { ...fixed, [kind]: part.kind }
    default:
      return { ...fixed, [kind]: part.type, [mediaType]: part.mediaType }
  }
}
