import type { Json } from '../format.ts'
import { base64Problems, isBlank, isObject, listOf, toolProblems } from '../rules.ts'

const kinds = [
  'text',
  'image',
  'document',
  'video',
  'toolUse',
  'toolResult',
  'reasoningContent',
  'cachePoint',
  'guardContent',
  'citationsContent',
]

/** Returns what Converse rejects: blank texts, turns that do not alternate, ids, unknown blocks, results without a call. */
export function bedrockProblems(body: Json, path: string): string[] {
  const bad: string[] = path.endsWith('/converse-stream') ? [] : [`the path ${path} is not converse-stream`]
  const messages = listOf(body.messages)
  if (messages[0]?.role !== 'user') bad.push('a conversation must start with a user message')
  messages.forEach(({ role, content }, index) => {
    const place = `messages[${index}]`
    if (listOf(content).length === 0) bad.push(`${place}: the content is empty`)
    if (index > 0 && messages[index - 1]?.role === role)
      bad.push(`${place}: roles must alternate between user and assistant`)
    for (const block of listOf(content)) bad.push(...blockProblems(block, place))
    const uses = idsOf(content, 'toolUse')
    const answered = idsOf(messages[index + 1]?.content, 'toolResult')
    const asked = idsOf(messages[index - 1]?.content, 'toolUse')
    for (const id of uses)
      if (!answered.includes(id)) bad.push(`${place}: expected a toolResult for ${id} in the next turn`)
    for (const id of idsOf(content, 'toolResult'))
      if (!asked.includes(id)) bad.push(`${place}: a toolResult for ${id}, which the turn before did not use`)
    if (new Set(uses).size < uses.length) bad.push(`${place}: toolUse ids are not unique`)
  })
  for (const { text } of listOf(body.system)) if (isBlank(text)) bad.push('a system text is blank')
  const tools = isObject(body.toolConfig) ? listOf(body.toolConfig.tools) : []
  return [
    ...bad,
    ...tools.flatMap(({ toolSpec }) => {
      if (!isObject(toolSpec)) return []
      return toolProblems(toolSpec.name, isObject(toolSpec.inputSchema) ? toolSpec.inputSchema.json : undefined)
    }),
  ]
}

function idsOf(content: unknown, kind: string): unknown[] {
  return listOf(content).flatMap((block) => (isObject(block[kind]) ? [block[kind].toolUseId] : []))
}

function blockProblems(block: Json, place: string): string[] {
  const kind = kinds.find((one) => one in block)
  if (kind === undefined) return [`${place}: unknown block ${Object.keys(block).join(', ')}`]
  const value = isObject(block[kind]) ? block[kind] : {}
  if (kind === 'text' && isBlank(block.text)) return [`${place}: the text field is blank`]
  if (kind === 'image' || kind === 'document') return mediaProblems(kind, value, place)
  if (kind === 'toolUse' || kind === 'toolResult') {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(value.toolUseId)))
      return [`${place}: toolUseId ${JSON.stringify(value.toolUseId)} does not match [a-zA-Z0-9_-]{1,64}`]
    return listOf(value.content).flatMap((part) => ('json' in part ? [] : blockProblems(part, place)))
  }
  if (kind === 'reasoningContent') {
    const text = isObject(value.reasoningText) ? value.reasoningText : {}
    if (text.signature !== undefined && text.signature !== 'lab-signature')
      return [`${place}: invalid signature in reasoningContent`]
  }
  return []
}

function mediaProblems(kind: string, { format, source, name }: Json, place: string): string[] {
  const formats =
    kind === 'image'
      ? ['png', 'jpeg', 'gif', 'webp']
      : ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md']
  const bad = formats.includes(String(format)) ? [] : [`${place}: the format ${JSON.stringify(format)} of a ${kind}`]
  if (kind === 'document' && !/^[a-zA-Z0-9 ()[\]-]{1,200}$/.test(String(name)))
    bad.push(`${place}: the name ${JSON.stringify(name)} of a document`)
  if (isObject(source) && 'bytes' in source) bad.push(...base64Problems(source.bytes, place))
  return bad
}
