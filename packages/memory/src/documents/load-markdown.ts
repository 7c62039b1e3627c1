import type { Token } from 'markdown-it'
import type { Block, LoadedText } from './block.ts'

/** Splits a Markdown text at its blocks, whose own text stays Markdown. The first heading of level 1 is its title. */
export async function loadMarkdown(text: string): Promise<LoadedText> {
  const { default: MarkdownIt } = await import('markdown-it')
  const parser = new MarkdownIt({ html: true })
  // Only blocks matter, and text inside of them would take the most time.
  parser.core.ruler.enableOnly(['normalize', 'block'])
  const body = withoutFrontMatter(text)
  const lines = body.split('\n')
  const blocks = parser
    .parse(body, {})
    .flatMap((token, i, tokens) => blockOf(token, tokens[i + 1], lines))
    .filter((block) => block.text !== '')
  return { blocks, title: blocks.find(({ heading }) => heading === 1)?.text }
}

const listNames: readonly string[] = ['bullet_list_open', 'ordered_list_open']

/** Returns a block of the document itself, or an item of a list of it. */
function blockOf({ type, level, map, tag }: Token, next: Token | undefined, lines: readonly string[]): Block[] {
  const isItem = type === 'list_item_open' && level === 1
  if (map === null || !(level === 0 || isItem) || listNames.includes(type) || type === 'hr') return []
  if (type === 'heading_open') return [{ text: next?.content.trim() ?? '', heading: Number(tag.slice(1)) }]
  return [
    {
      text: lines
        .slice(...map)
        .join('\n')
        .trim(),
    },
  ]
}

function withoutFrontMatter(text: string): string {
  const end = text.startsWith('---\n') ? text.indexOf('\n---\n', 3) : -1
  return end < 0 ? text : text.slice(end + 5)
}
