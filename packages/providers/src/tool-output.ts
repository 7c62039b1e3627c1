import type { FilePart, ImagePart, Part, ToolResultPart } from '@allium/core'
import { type AiSdkModel, providerName } from './ai-sdk-model.ts'
import { isBlank, rejectsBlank } from './blank.ts'
import { acceptsUrl, fileContent } from './file-content.ts'
import type { PromptContext, PromptPart } from './prompt-context.ts'

/** Converts the output of an agent's tool. An error with non-text content loses its flag, which the AI SDK cannot express there. */
export function toolOutput({ content, isError, json }: ToolResultPart, context: PromptContext): PromptPart {
  const type = isError === true ? 'error-text' : 'text'
  if (typeof content === 'string')
    return (json === true ? jsonOf(content) : undefined) ?? { type, value: shown(content, type, context) }
  const { moved } = context
  const parts = moved === undefined ? content : content.map((part) => asText(part, context, moved))
  if (parts.every((part) => part.type === 'text')) return { type, value: shown(textOf(parts), type, context) }
  return { type: 'content', value: parts.flatMap((part) => toResultPart(part, context)) }
}

/** Anthropic also rejects an error without a text. */
function shown(text: string, type: string, { model }: PromptContext): string {
  if (!isBlank(text) || !rejectsBlank(model)) return text
  return type === 'error-text' ? 'Error.' : ''
}

/** Whether a model's API has only text in tool results. Its package would send a file as base64 text. */
export function hasTextResults({ provider }: AiSdkModel): boolean {
  return provider.endsWith('.chat') && !provider.startsWith('google')
}

/** Puts the name of a file in its place. Images move to the message after the results. */
function asText(part: Part, context: PromptContext, moved: ImagePart[]): Part {
  if (part.type !== 'image' && part.type !== 'file') return part
  const file = fileContent(part)
  if ('url' in file && !fetches(file.url, file.mediaType, context)) return { type: 'text', text: urlText(file) }
  const isImage = part.type === 'image'
  const place = isImage
    ? `image ${moved.push(part)} of the next message`
    : 'a file, which this model cannot get from a tool'
  return { type: 'text', text: `[${part.mediaType}: ${place}]` }
}

/** Converts the output of a provider's tool, unchanged. */
export function executedOutput({ content, isError, json }: ToolResultPart): PromptPart {
  const text = typeof content === 'string' ? content : textOf(content)
  // A history from elsewhere may lack the flag.
  const value = json === true || /^\s*[[{]/.test(text) ? jsonOf(text) : undefined
  if (isError === true) return { type: 'error-json', value: value === undefined ? text : value.value }
  return value ?? { type: 'text', value: text }
}

/** Returns undefined if a layer changed the text so that it no longer parses. */
function jsonOf(text: string): PromptPart | undefined {
  try {
    return { type: 'json', value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function toResultPart(part: Part, context: PromptContext): PromptPart[] {
  if (part.type === 'text')
    return isBlank(part.text) && rejectsBlank(context.model) ? [] : [{ type: 'text', text: part.text }]
  if (part.type !== 'image' && part.type !== 'file') return []
  return [toResultFile(part, context)]
}

/** A URL that cannot be passed on becomes text, because an error would make the session unusable. */
function toResultFile(part: ImagePart | FilePart, context: PromptContext): PromptPart {
  const file = fileContent(part)
  if (!('url' in file)) return context.dialect.resultFile(file) as PromptPart
  const resultPart = fetches(file.url, file.mediaType, context) ? context.dialect.resultFile(file) : undefined
  return resultPart ?? { type: 'text', text: urlText(file) }
}

function urlText({ mediaType, url }: { mediaType: string; url: URL }): string {
  return `[${mediaType}: ${url.href}]`
}

/** Never for Google, whose packages download the URLs in tool results from inside this process. */
function fetches(url: URL, mediaType: string, { model, urls }: PromptContext): boolean {
  return providerName(model) !== 'google' && acceptsUrl(urls, url, mediaType)
}

function textOf(parts: Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
