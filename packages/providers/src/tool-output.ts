import type { Part, ToolResultPart } from '@allium/core'
import { resultText } from '@allium/core/internal'
import { isBlank, rejectsBlank } from './blank.ts'
import { fileContent, placeholder } from './file-content.ts'
import type { PromptContext, PromptPart } from './prompt-context.ts'

/**
 * Converts the output of an agent's tool. Several texts stay apart if the package keeps them apart. Otherwise each begins a line. An
 * error with non-text content loses its flag, which the AI SDK cannot express there.
 */
export function toolOutput({ content, isError, json }: ToolResultPart, context: PromptContext): PromptPart {
  const type = isError === true ? 'error-text' : 'text'
  if (typeof content === 'string')
    return (json === true ? jsonOf(content) : undefined) ?? { type, value: shown(content, type, context) }
  const { media } = context
  const parts = media?.result(content) ?? content
  const texts = parts.filter((part) => part.type === 'text')
  const joins = media?.joinsTexts === true
  if (texts.length === parts.length && (joins || isError === true || parts.length < 2))
    return { type, value: shown(resultText(parts), type, context) }
  const value = joins ? [joinedText(texts), ...parts.filter((part) => part.type !== 'text')] : parts
  return { type: 'content', value: value.flatMap((part) => toResultPart(part, context)) }
}

/** One text, because Google's packages send a function response for each text and none for files. Gemini requires one. */
function joinedText(texts: Part[]): Part {
  return { type: 'text', text: resultText(texts) }
}

/** Anthropic also rejects an error without a text. */
function shown(text: string, type: string, { model }: PromptContext): string {
  if (!isBlank(text) || !rejectsBlank(model)) return text
  return type === 'error-text' ? 'Error.' : ''
}

/** Converts the output of a provider's tool, unchanged. */
export function executedOutput({ content, isError, json }: ToolResultPart): PromptPart {
  const text = resultText(content)
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
  const file = fileContent(part)
  return [context.dialect.resultFile(file) ?? placeholder(file)]
}
