import type { Json } from '../format.ts'
import { imageProblems, isObject, listOf, toolProblems } from '../rules.ts'

const parts: Record<string, readonly string[]> = {
  user: ['text', 'image_url'],
  system: ['text'],
  assistant: ['text', 'thinking'],
  tool: ['text', 'document'],
}

/** Returns what Cohere rejects: unknown roles and parts, results without a call, empty answers. */
export function cohereProblems(body: Json): string[] {
  const bad: string[] = body.stream === true ? [] : ['stream is not true']
  let open = new Set<unknown>()
  listOf(body.messages).forEach((message, index) => {
    const place = `messages[${index}]`
    const { role, content, tool_call_id: id } = message
    const known = parts[String(role)]
    if (known === undefined) {
      bad.push(`${place}: unknown role ${JSON.stringify(role)}`)
      return
    }
    for (const part of listOf(content)) {
      if (!known.includes(String(part.type))) bad.push(`${place}: unknown part ${JSON.stringify(part.type)}`)
      if (part.type === 'image_url')
        bad.push(...imageProblems(isObject(part.image_url) ? part.image_url.url : undefined, place))
    }
    if (role === 'tool') {
      if (!open.delete(id)) bad.push(`${place}: a result for ${JSON.stringify(id)}, which is no open call`)
      return
    }
    if (open.size > 0) bad.push(`${place}: the calls ${[...open].join(', ')} have no result`)
    open = new Set()
    if (role !== 'assistant') return
    const calls = listOf(message.tool_calls)
    if (
      calls.length === 0 &&
      (content === undefined || content === '' || (Array.isArray(content) && content.length === 0))
    )
      bad.push(`${place}: an answer without content and calls`)
    for (const call of calls) {
      if (typeof call.id !== 'string' || call.id === '') bad.push(`${place}: a call without an id`)
      open.add(call.id)
    }
  })
  const tools = listOf(body.tools).map((tool) => (isObject(tool.function) ? tool.function : {}))
  return [...bad, ...tools.flatMap(({ name, parameters }) => toolProblems(name, parameters))]
}
