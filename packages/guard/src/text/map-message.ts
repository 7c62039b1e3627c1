import type { Message, Part, ToolResult } from '@allium/core'
import { mapFile } from './map-file.ts'
import { type MapText, mapJson } from './map-json.ts'
import { unsupportedKind } from './unsupported-kind.ts'

/** Returns the message with its texts mapped; the same object if nothing changed. */
export async function mapMessage(message: Message, map: MapText): Promise<Message> {
  const { content } = message
  const mapped = await mapTexts(content, map)
  return mapped === content ? message : { ...message, content: mapped }
}

/** Returns the content with its texts mapped, including tool results; the same object if nothing changed. */
export async function mapTexts<C extends Message['content']>(content: C, map: MapText): Promise<C> {
  if (typeof content === 'string') return (await map(content)) as C
  const parts: Part[] = []
  for (const part of content as readonly Part[]) parts.push(await mapPart(part, map))
  await mapOverEdges(parts, map)
  return parts.some((part, i) => part !== content[i]) ? (parts as C) : content
}

/** Reads adjacent texts as one. A finding across their edge is replaced in the first. */
async function mapOverEdges(parts: Part[], map: MapText): Promise<void> {
  for (let i = 0; i + 1 < parts.length; i++) {
    const [first, second] = [parts[i], parts[i + 1]] as [Part, Part]
    if (!isText(first) || !isText(second) || first.type !== second.type) continue
    const edge = first.text.length
    const joined = first.text + second.text
    const mapped = await map(joined)
    if (mapped === joined) continue
    const [head, tail] = splitAroundEdit(joined, mapped, edge)
    parts[i] = { type: first.type, text: head }
    parts[i + 1] = { type: second.type, text: tail }
  }
}

const isText = (part: Part): part is Extract<Part, { type: 'text' | 'reasoning' }> =>
  part.type === 'text' || part.type === 'reasoning'

/** Both texts were already mapped separately, so a difference crosses their edge. */
function splitAroundEdit(before: string, after: string, edge: number): [head: string, tail: string] {
  const minLength = Math.min(before.length, after.length)
  let commonPrefix = 0
  while (commonPrefix < Math.min(minLength, edge) && before[commonPrefix] === after[commonPrefix]) commonPrefix++
  let end = 0
  while (end < minLength - commonPrefix && end < before.length - edge && before.at(-1 - end) === after.at(-1 - end))
    end++
  return [after.slice(0, after.length - end), after.slice(after.length - end)]
}

async function mapPart(part: Part, map: MapText): Promise<Part> {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = await map(part.text)
      return text === part.text ? part : { type: part.type, text }
    }
    case 'tool-result': {
      const content = await mapTexts(part.content, map)
      return content === part.content ? part : { ...part, content }
    }
    case 'tool-call': {
      const args = await mapJson(part.args, map)
      return args === part.args ? part : { ...part, args }
    }
    case 'custom':
      return part
    case 'image':
    case 'file':
      return mapFile(part, map)
    default:
      return unsupportedKind(part, 'part')
  }
}

/** Returns a result with its texts mapped. If they changed, the tool's raw value is removed. */
export async function mapResult(result: ToolResult, map: MapText): Promise<ToolResult> {
  const content = await mapTexts(result.content, map)
  if (content === result.content) return result
  const { value: _, ...rest } = result
  return { ...rest, content }
}

/** Removes the metadata of replaced text, because it may contain the original that the provider kept. */
export function dropMetadata(message: Message, kinds: ReadonlySet<string>): Message {
  if (typeof message.content === 'string' || kinds.size === 0) return message
  const content = message.content.map((part): Part => {
    if (!kinds.has(part.type) || part.providerMetadata === undefined) return part
    const { providerMetadata: _, ...rest } = part
    return rest as Part
  })
  return { ...message, content }
}
