import type { Json } from '../format.ts'
import { base64Problems, isBlank, isObject, listOf, toolProblems } from '../rules.ts'

const blocks: Record<string, readonly string[]> = {
  user: ['text', 'image', 'document', 'tool_result', 'search_result'],
  assistant: ['text', 'thinking', 'redacted_thinking', 'tool_use', 'server_tool_use'],
}

/** Returns what Messages reject: white space, thinking that Anthropic did not sign, calls without results, ids, unknown blocks. */
export function anthropicProblems(body: Json, isStrict = true): string[] {
  const bad: string[] = body.stream === true ? [] : ['stream is not true']
  if (typeof body.max_tokens !== 'number') bad.push('max_tokens is missing')
  const messages = listOf(body.messages).map(({ role, content }) => ({
    role: String(role),
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content),
  }))
  if (messages[0]?.role !== 'user') bad.push('the first message is not of the user')
  messages.forEach(({ role, content }, index) => {
    const place = `messages[${index}]`
    if (content.length === 0) bad.push(`${place} is empty`)
    for (const block of content) bad.push(...blockProblems(block, role, place))
    bad.push(...pairProblems(content, messages[index + 1]?.content ?? [], messages[index - 1]?.content ?? [], place))
  })
  const last = messages.at(-1)
  if (last?.role === 'assistant' && /\s$/.test(String((last.content.at(-1) as Json | undefined)?.text ?? '')))
    bad.push('the last message is of the assistant and ends with white space')
  for (const block of listOf(body.system))
    if (isBlank(block.text)) bad.push('a system text has nothing but white space')
  if (isBlank(body.system)) bad.push('system has nothing but white space')
  const tools = listOf(body.tools).filter((tool) => tool.type === undefined || tool.type === 'custom')
  const stated = isStrict ? bad : bad.filter((one) => !/whitespace|white space|does not match/.test(one))
  return [
    ...stated,
    ...tools.flatMap(({ name, input_schema: schema }) => toolProblems(name, schema, /^[a-zA-Z0-9_-]{1,128}$/)),
  ]
}

function blockProblems(block: Json, role: string, place: string): string[] {
  const { type } = block
  if (blocks[role]?.includes(String(type)) !== true)
    return [`${place}: unknown block ${JSON.stringify(type)} of the role ${role}`]
  if (type === 'text' && isBlank(block.text)) return [`${place}: text content blocks must contain non-whitespace text`]
  if (type === 'thinking' && block.signature !== 'lab-signature')
    return [`${place}: invalid signature in thinking block`]
  if (type === 'redacted_thinking' && block.data !== 'lab-redacted')
    return [`${place}: invalid data in redacted_thinking block`]
  if (type === 'image' || type === 'document') return sourceProblems(block, place)
  if (type === 'tool_use') return useProblems(block, place)
  if (type === 'tool_result' && Array.isArray(block.content))
    return listOf(block.content).flatMap((part) =>
      part.type === 'text' || part.type === 'image' || part.type === 'document' || part.type === 'search_result'
        ? blockProblems(part, 'user', place)
        : [`${place}: unknown block ${JSON.stringify(part.type)} in a tool_result`],
    )
  return []
}

function sourceProblems({ type, source }: Json, place: string): string[] {
  const { type: kind, data, media_type: mediaType } = isObject(source) ? source : {}
  if (kind !== 'base64')
    return ['url', 'text', 'file', 'content'].includes(String(kind))
      ? []
      : [`${place}: unknown source ${JSON.stringify(kind)}`]
  const types = type === 'image' ? /^image\/(jpeg|png|gif|webp)$/ : /^application\/pdf$/
  if (!types.test(String(mediaType))) return [`${place}: media_type ${JSON.stringify(mediaType)} of a ${type}`]
  return base64Problems(data, place)
}

function useProblems({ id, name, input }: Json, place: string): string[] {
  const bad: string[] = []
  if (!/^[a-zA-Z0-9_-]+$/.test(String(id)))
    bad.push(`${place}: the id ${JSON.stringify(id)} does not match ^[a-zA-Z0-9_-]+$`)
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))) bad.push(`${place}: the name of a call is ${JSON.stringify(name)}`)
  if (!isObject(input)) bad.push(`${place}: the input of a call is no object`)
  return bad
}

function pairProblems(content: Json[], next: Json[], previous: Json[], place: string): string[] {
  const idsOf = (list: Json[], type: string, key: string) =>
    list.filter((one) => one.type === type).map((one) => one[key])
  const uses = idsOf(content, 'tool_use', 'id')
  const results = idsOf(content, 'tool_result', 'tool_use_id')
  const answered = idsOf(next, 'tool_result', 'tool_use_id')
  const asked = idsOf(previous, 'tool_use', 'id')
  const bad: string[] = []
  for (const id of uses)
    if (!answered.includes(id)) bad.push(`${place}: tool_use ${id} has no tool_result in the next message`)
  for (const id of results) if (!asked.includes(id)) bad.push(`${place}: tool_result ${id} without tool_use before it`)
  if (new Set(uses).size < uses.length) bad.push(`${place}: tool_use ids are not unique`)
  if (new Set(results).size < results.length) bad.push(`${place}: several tool_results for one id`)
  const firstOther = content.findIndex(({ type }) => type !== 'tool_result')
  if (firstOther >= 0 && content.slice(firstOther).some(({ type }) => type === 'tool_result'))
    bad.push(`${place}: a tool_result after other content`)
  return bad
}
