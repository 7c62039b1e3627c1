import MarkdownIt from 'markdown-it'
import { marked } from 'marked'
import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { type DefaultTreeAdapterMap, parseFragment } from 'parse5'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import tlds from 'tlds' with { type: 'json' }
import { unified } from 'unified'

type Node = DefaultTreeAdapterMap['node']

const dangerous = { allowDangerousHtml: true, allowDangerousProtocol: true }
const remark = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeStringify, { allowDangerousHtml: true })

/** The parsers that pages show answers with, each as permissive as it can be set up. */
export const readers: Readonly<Record<string, (markdown: string) => string>> = {
  marked: (text) => marked.parse(text, { async: false }),
  'marked without GFM': (text) => marked.parse(text, { async: false, gfm: false }),
  'markdown-it': markdownIt({}),
  'markdown-it with HTML': markdownIt({ html: true }),
  'markdown-it with linkify': markdownIt({ linkify: true }),
  'markdown-it with HTML and linkify': markdownIt({ html: true, linkify: true }),
  micromark: (text) => micromark(text, dangerous),
  'micromark with GFM': (text) => micromark(text, { ...dangerous, extensions: [gfm()], htmlExtensions: [gfmHtml()] }),
  remark: (text) => String(remark.processSync(text)),
}

/** Every top-level domain, names without a scheme, and numbers: what linkify can be set to. */
function markdownIt(options: object): (text: string) => string {
  const parser = new MarkdownIt(options)
  parser.validateLink = () => true
  parser.linkify.tlds(tlds as unknown as string[]).set({ fuzzyIP: true, fuzzyLink: true, fuzzyEmail: true })
  return (text) => parser.render(text)
}

/** One of each family: the others find little that these do not. */
export const fastReaders = ['marked', 'markdown-it with HTML and linkify', 'micromark with GFM']

/** What elements of a page lead to, or load, other than places in the page and allowed origins; of each reader that finds something. */
export function leadsElsewhere(
  markdown: string,
  allowed: ReadonlySet<string>,
  names: readonly string[] = Object.keys(readers),
): string[] {
  return names.flatMap((reader) =>
    inHtml(readers[reader]?.(markdown) ?? '').flatMap(([where, url]) =>
      isAllowed(where, url, allowed) ? [] : [`${reader}: ${where} ${url}`],
    ),
  )
}

type Found = [where: string, url: string]

export function inHtml(html: string): Found[] {
  const found: Found[] = []
  const nodes: Node[] = [parseFragment(html)]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if ('childNodes' in node) nodes.push(...node.childNodes)
    if (!('tagName' in node)) continue
    const { tagName, attrs } = node
    if (loading.has(tagName)) found.push([tagName, tagName])
    for (const { name, value } of attrs) if (!plain.test(name)) found.push([`${tagName} ${name}`, value])
    if (tagName === 'template') nodes.push((node as DefaultTreeAdapterMap['template']).content)
  }
  return found
}

const loading = new Set([
  'script',
  'style',
  'iframe',
  'frame',
  'object',
  'embed',
  'link',
  'meta',
  'base',
  'form',
  'svg',
  'math',
])
/** Attributes that cannot carry an address. */
const plain = /^(?:class|id|align|start|type|disabled|checked|dir|title|alt|aria-.*|data-(?!.*url).*)$/

export function isAllowed(where: string, url: string, allowed: ReadonlySet<string>): boolean {
  if (where === 'a href' && url.startsWith('#')) return true
  if (where !== 'a href' && where !== 'img src') return false
  try {
    const { protocol, hostname, username } = new URL(url, 'https://page.invalid/')
    return /^https?:$/.test(protocol) && username === '' && allowed.has(hostname)
  } catch {
    return false
  }
}
