import type { LoadedText } from './block.ts'
import { loadHtml } from './load-html.ts'
import { loadMarkdown } from './load-markdown.ts'

/** The formats that documents can have. */
export const documentFormats = ['text', 'markdown', 'html'] as const
export type DocumentFormat = (typeof documentFormats)[number]

/**
 * Splits a text into its paragraphs.
 *
 * @throws AlliumError `options.invalid` if it is nested too deeply
 */
export async function loadText(text: string, format: DocumentFormat): Promise<LoadedText> {
  const lines = text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  if (format === 'markdown') return loadMarkdown(lines)
  if (format === 'html') return loadHtml(lines)
  return { blocks: paragraphsOf(lines) }
}

/** Paragraphs of plain text are separated by blank lines. */
function paragraphsOf(text: string) {
  return text
    .split(/\n(?:[^\S\n]*\n)+/)
    .map((paragraph) => ({ text: paragraph.trim() }))
    .filter((block) => block.text !== '')
}
