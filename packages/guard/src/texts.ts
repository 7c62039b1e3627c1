import type { Message, Part, ToolResult, TurnContext } from '@allium/core'
import { type Detector, type Finding, findAll } from '@allium/detect'
import { unknownKind } from './unknown-kind.ts'

type MapText = (text: string) => string | Promise<string>
/** Texts that a map leaves as they are, by the message or part that holds them. */
export type Unchanged = WeakMap<object, string>

/** The message with its texts mapped. A text that is known to stay as it is, where it stood, is not asked for again. */
export async function mapMessage(message: Message, map: MapText, unchanged: Unchanged): Promise<Message> {
  const { content } = message
  const mapped =
    typeof content === 'string'
      ? await mapKnown(message, content, map, unchanged)
      : await mapTexts(content, map, unchanged)
  return mapped === content ? message : { ...message, content: mapped }
}

/** The content with its texts mapped, those of tool results included; the same object where nothing changed. */
export async function mapTexts<C extends Message['content']>(
  content: C,
  map: MapText,
  unchanged: Unchanged = new WeakMap(),
): Promise<C> {
  if (typeof content === 'string') return (await map(content)) as C
  const parts: Part[] = []
  for (const part of content as readonly Part[]) parts.push(await mapPart(part, map, unchanged))
  return parts.some((part, i) => part !== content[i]) ? (parts as C) : content
}

async function mapPart(part: Part, map: MapText, unchanged: Unchanged): Promise<Part> {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = await mapKnown(part, part.text, map, unchanged)
      return text === part.text ? part : { type: part.type, text }
    }
    case 'tool-result': {
      const content =
        typeof part.content === 'string'
          ? await mapKnown(part, part.content, map, unchanged)
          : await mapTexts(part.content, map, unchanged)
      return content === part.content ? part : { ...part, content }
    }
    case 'tool-call': {
      const args = await mapJson(part.args, map)
      return args === part.args ? part : { ...part, args }
    }
    case 'image':
    case 'file':
      return part
    default:
      return unknownKind(part, 'part')
  }
}

async function mapKnown(holder: object, text: string, map: MapText, unchanged: Unchanged): Promise<string> {
  if (unchanged.get(holder) === text) return text
  const mapped = await map(text)
  if (mapped === text) unchanged.set(holder, text)
  return mapped
}

/** A JSON-like value with its texts mapped, at any depth, keys as they are; the same object where nothing changed. */
export async function mapJson<T>(value: T, map: MapText): Promise<T> {
  if (typeof value === 'string') return (await map(value)) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  let changed = false
  for (const entry of entries) {
    const mapped = await mapJson(entry[1], map)
    changed ||= mapped !== entry[1]
    entry[1] = mapped
  }
  if (!changed) return value
  return (Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries)) as T
}

/** A text with what was found in it replaced. */
export async function replaceIn(
  text: string,
  detectors: readonly Detector[],
  replace: (found: Finding) => string | Promise<string>,
): Promise<string> {
  let replaced = ''
  let at = 0
  for (const finding of findAll(detectors, text)) {
    replaced += text.slice(at, finding.start) + (await replace(finding))
    at = finding.end
  }
  return at === 0 ? text : replaced + text.slice(at)
}

/** The input of a turn with its texts mapped. */
export async function mapInput(ctx: Pick<TurnContext, 'input'>, map: MapText): Promise<void> {
  const input: Message[] = []
  for (const message of ctx.input) {
    const content = await mapTexts(message.content, map)
    input.push(content === message.content ? message : { ...message, content })
  }
  if (input.some((message, i) => message !== ctx.input[i])) ctx.input = input
}

/** A result with its texts mapped; what the tool gave is not kept beside another text. */
export async function mapResult(result: ToolResult, map: MapText): Promise<ToolResult> {
  const content = await mapTexts(result.content, map)
  if (content === result.content) return result
  const { value: _, ...rest } = result
  return { ...rest, content }
}
