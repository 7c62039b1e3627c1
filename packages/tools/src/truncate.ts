import { defineMiddleware, layerOptions, option, type Part, type TypedMiddleware } from '@allium/core'

export interface TruncateOptions {
  /** The maximum number of characters of one result. @default 20_000 */
  maxLength?: number | undefined
  /** The part that is kept: the beginning, the end, or half of each. @default 'start' */
  side?: 'start' | 'end' | 'both' | undefined
  /** The tools whose results are truncated, by name. @default all */
  tools?: readonly string[] | undefined
  /** Returns the text in place of the omitted part. @default says how much is omitted */
  marker?(omitted: number): string
  /** The layer's name. @default 'tools:truncate' */
  as?: string | undefined
}

const readOptions = layerOptions<TruncateOptions>('tools:truncate', {
  maxLength: option.number({ above: 0 }),
  side: option.oneOf('start', 'end', 'both'),
  tools: option.list(option.text),
  marker: option.fn,
})

/**
 * Truncates tool results that are too long for the model, with a marker in place of the omitted text.
 *
 * Register it inside of layers that read whole results, such as an audit. Images and files stay, and so does the value that `execute`
 * returned. It never splits an emoji.
 *
 * @throws AlliumError `layer.config` for a length that is not above 0
 * @example
 * agent.use(tools.truncate({ maxLength: 8_000, side: 'both' }))
 */
export function truncate(options: TruncateOptions = {}): TypedMiddleware<{}> {
  const {
    maxLength = 20_000,
    side = 'start',
    tools,
    marker = (omitted) => `\n[… ${omitted} characters left out …]\n`,
    as = 'tools:truncate',
  }: TruncateOptions = readOptions(options)

  return defineMiddleware({
    name: as,
    options: { maxLength, side, tools },
    order: { is: ['shapes'] },
    inherit: true,
    async tool(ctx, next) {
      const result = await next()
      if (tools !== undefined && !tools.includes(ctx.tool.name)) return result
      const { content } = result
      if (typeof content === 'string')
        return content.length > maxLength ? { ...result, content: truncateText(content) } : result
      return textLength(content) > maxLength ? { ...result, content: truncateParts(content) } : result
    },
  })

  function truncateText(text: string): string {
    const start = side === 'end' ? 0 : side === 'both' ? Math.ceil(maxLength / 2) : maxLength
    const head = safeStart(text, start)
    const tail = safeEnd(text, maxLength - start)
    return head + marker(text.length - head.length - tail.length) + tail
  }

  /** Truncates all texts as one, in place of the first. */
  function truncateParts(parts: readonly Part[]): Part[] {
    const text = truncateText(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'))
    const first = parts.findIndex(({ type }) => type === 'text')
    return parts.flatMap((part, i): Part[] =>
      part.type !== 'text' ? [part] : i === first ? [{ type: 'text', text }] : [],
    )
  }
}

function textLength(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
}

/** Returns the first characters, without half of a surrogate pair at the end. */
function safeStart(text: string, length: number): string {
  return isHigh(text.charCodeAt(length - 1)) ? text.slice(0, length - 1) : text.slice(0, length)
}

function safeEnd(text: string, length: number): string {
  const from = text.length - length
  return length > 0 && isHigh(text.charCodeAt(from - 1)) ? text.slice(from + 1) : text.slice(from)
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}
