import type { Json } from '../format.ts'
import { imageProblems, isObject, listOf, strictProblems, toolProblems } from '../rules.ts'
import type { ChatDialect } from './openai-chat.ts'

const openaiParts = ['text', 'image_url', 'input_audio', 'file']

/** Returns what Chat Completions reject: sequences of calls and results, names, schemas, unknown parts. */
export function chatProblems(
  body: Json,
  { callId = /./, parts = openaiParts, isNameless = false }: ChatDialect,
): string[] {
  const bad: string[] = []
  if (body.stream !== true) bad.push('stream is not true')
  const messages = listOf(body.messages)
  if (messages.length === 0) bad.push('messages is empty')
  let open = new Set<unknown>()
  messages.forEach((message, index) => {
    if (message.role !== 'tool' && open.size > 0)
      bad.push(`messages[${index}]: the calls ${[...open].join(', ')} have no result`)
    if (message.role === 'tool') bad.push(...resultProblems(message, index, open))
    else open = new Set()
    if (message.role === 'user' && Array.isArray(message.content))
      bad.push(...partProblems(message.content, index, parts))
    if (message.role === 'assistant') {
      const calls = listOf(message.tool_calls)
      if (isEmpty(message.content) && calls.length === 0)
        bad.push(`messages[${index}]: an assistant message without content and calls`)
      for (const call of calls) {
        if (typeof call.id !== 'string' || !callId.test(call.id))
          bad.push(`messages[${index}]: the tool call id ${JSON.stringify(call.id)} does not match ${callId}`)
        if (open.has(call.id)) bad.push(`messages[${index}]: the tool call id ${call.id} is there twice`)
        bad.push(...argumentProblems(call, index))
        open.add(call.id)
      }
    }
  })
  if (open.size > 0) bad.push(`the calls ${[...open].join(', ')} have no result`)
  return [...bad, ...listOf(body.tools).flatMap(functionProblems), ...formatProblems(body.response_format, isNameless)]
}

function isEmpty(content: unknown): boolean {
  return content === null || content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
}

function resultProblems({ tool_call_id: id, content }: Json, index: number, open: Set<unknown>): string[] {
  const bad: string[] = []
  if (!open.delete(id)) bad.push(`messages[${index}]: a result for ${JSON.stringify(id)}, which is no open call`)
  if (typeof content !== 'string' && !listOf(content).every((part) => part.type === 'text'))
    bad.push(`messages[${index}]: the content of a tool message is neither a text nor text parts`)
  return bad
}

function partProblems(content: unknown[], index: number, parts: readonly string[]): string[] {
  return listOf(content).flatMap((part) => {
    if (!parts.includes(String(part.type))) return [`messages[${index}]: unknown part ${JSON.stringify(part.type)}`]
    const url = isObject(part.image_url) ? part.image_url.url : part.image_url
    if (part.type === 'image_url') return imageProblems(url, `messages[${index}]`)
    return []
  })
}

function argumentProblems(call: Json, index: number): string[] {
  const { arguments: text, name } = isObject(call.function) ? call.function : {}
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    return [`messages[${index}]: the name of a call is ${JSON.stringify(name)}`]
  return typeof text === 'string' ? [] : [`messages[${index}]: the arguments of a call are no text`]
}

function functionProblems(tool: Json): string[] {
  if (tool.type !== 'function' || !isObject(tool.function)) return [`unknown tool type ${JSON.stringify(tool.type)}`]
  const { name, parameters, strict } = tool.function
  return [...toolProblems(name, parameters), ...(strict === true ? strictProblems(parameters) : [])]
}

function formatProblems(format: unknown, isNameless: boolean): string[] {
  if (!isObject(format) || !isObject(format.json_schema)) return []
  const { strict, schema, name } = format.json_schema
  if (!isNameless && typeof name !== 'string') return ['response_format has no name']
  return strict === true ? strictProblems(schema) : []
}
