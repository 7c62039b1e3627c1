import { type HostFilter, parseAllowedUrl, urlPattern } from './allowed-url.ts'
import type { Span } from './code-spans.ts'

/** A line with its context. */
export interface Line {
  readonly text: string
  /** Code spans, which stay unchanged. */
  readonly spans: readonly Span[]
  /** The part of the same line that was already sent. */
  readonly before: string
  /** A bracket was opened in the same paragraph. Without one, no bracket closes a link. */
  readonly isOpened: boolean
}

const linkTail = new RegExp(String.raw`\]\((${urlPattern})(?:[ \t]+"[^"\\<>&\x60[\]]*")?\)`, 'iy')
const pageAnchor = /\]\(#[\w-]*\)/y
const definitionTail = new RegExp(String.raw`\]:[ \t]?(${urlPattern})(?:[ \t]+"[^"\\<>&\x60]*")?[ \t]*$`, 'iy')
/** More than an address and a title: no parser reads this as a definition. */
const sentence = /\]:[ \t]+[^\s<[\]][^\s[\]]*[ \t]+\p{L}/uy
const autolink = new RegExp(`<(${urlPattern})>`, 'iy')
const plainTag = /<(?:\/?(?:b|i|em|strong|u|s|sub|sup|kbd|mark|small)|br ?\/?)>/iy
/** Block markers: quotes and lists. */
const blockMarks = /^[\s>*+\d.)-]*$/
const openTag = /<(?:[a-z!/?]|[^\s<>]*@)/iy

/** Breaks links, images, definitions and tags, except those that lead to allowed hosts. */
export function neutralizeMarkup(line: Line, isAllowedHost: HostFilter): string {
  const { text, spans, before, isOpened } = line
  if (!/[[\]<]/.test(text)) return text
  const mayDefine = definitionTest(before + text, before.length)
  const start = blockMarks.test(before) ? text.search(/[^\s>*+\d.)-]/) : -1
  let out = ''
  let from = 0
  let first = -1
  // The bracket that the next one closes, if that is unambiguous.
  let openBracket = -1
  let span = 0
  for (const { index, 0: mark } of text.matchAll(/[[\]<]/g)) {
    while ((spans[span]?.end ?? Infinity) <= index) span++
    const codeStart = Math.min(spans[span]?.start ?? Infinity, index + 1)
    const isCode = codeStart <= index
    if (mark === '[') {
      openBracket = index
      if (first < 0) first = index
    } else if (mark === '<') {
      if (isCode ? !opensTagInCode(text, index) : !opensTag(text, index, start < index, isAllowedHost)) continue
      out += `${text.slice(from, index)}&lt;`
      from = index + 1
    } else {
      const isInsideCode = isCode && openBracket >= codeStart
      const next = text[index + 1]
      const isLink =
        next === '(' &&
        (isOpened || first >= 0) &&
        !isInsideCode &&
        !leadsToAllowed(text, index, openBracket, isAllowedHost)
      const isDefinition = next === ':' && mayDefine(index) && !definesAllowed(text, index, isAllowedHost)
      openBracket = -1
      if (!isLink && !isDefinition) continue
      out += `${text.slice(from, index + 1)} `
      from = index + 1
    }
  }
  return out + text.slice(from)
}

/**
 * Returns a test for whether a definition's label may end at an index: it begins on this line after block markers only, or on an earlier
 * line.
 */
function definitionTest(line: string, offset: number): (index: number) => boolean {
  const letter = line.search(/\p{L}/u)
  const bracket = line.indexOf('[')
  return (index) => letter < 0 || bracket < 0 || bracket > offset + index || letter >= bracket
}

function matchAt(pattern: RegExp, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index
  return pattern.exec(text)
}

function isAllowed(match: RegExpExecArray | null, isAllowedHost: HostFilter): boolean {
  return match?.[1] !== undefined && parseAllowedUrl(match[1], 0, isAllowedHost) !== undefined
}

function leadsToAllowed(text: string, index: number, openBracket: number, isAllowedHost: HostFilter): boolean {
  if (isAllowed(matchAt(linkTail, text, index), isAllowedHost)) return true
  return matchAt(pageAnchor, text, index) !== null && openBracket >= 0 && !/[!\\]/.test(text.charAt(openBracket - 1))
}

function definesAllowed(text: string, index: number, isAllowedHost: HostFilter): boolean {
  return isAllowed(matchAt(definitionTail, text, index), isAllowedHost) || matchAt(sentence, text, index) !== null
}

/** At the beginning of a line a tag may begin an HTML block, in which nothing is code. */
function opensTag(text: string, index: number, hasText: boolean, isAllowedHost: HostFilter): boolean {
  if (matchAt(openTag, text, index) === null || isAllowed(matchAt(autolink, text, index), isAllowedHost)) return false
  return !hasText || matchAt(plainTag, text, index) === null
}

const activeTag =
  /<\/?(?:style|script|svg|math|iframe|object|embed|base|meta|link|form|template|img|image|a|audio|video|source|input|body)(?![\w-])/iy

/** Code is text for every Markdown parser. Active tags are escaped anyway, for pages that show an answer as HTML. */
export function opensTagInCode(text: string, index: number): boolean {
  if (!/[a-z!/?]/i.test(text.charAt(index + 1))) return false
  const end = text.indexOf('>', index)
  return matchAt(activeTag, text, index) !== null || (end > 0 && text.slice(index, end).includes('='))
}
