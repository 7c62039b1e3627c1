import { AlliumError } from '@allium/core'
import type { DefaultTreeAdapterTypes as Html } from 'parse5'
import type { Block, LoadedText } from './block.ts'

/** Elements that end the paragraph before them. A table row is one paragraph. */
const blockNames = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main nav ol option p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)
/** Elements whose text is not for readers. */
const hiddenNames = new Set(
  'head script style template noscript svg math iframe object canvas audio video select textarea button title'.split(
    ' ',
  ),
)
/** The maximum number of elements, and how deeply they are nested. More would take minutes to parse. */
const [maxElements, maxDepth] = [100_000, 500]

/** Splits an HTML page at its block elements. Scripts, styles and hidden elements are left out. Links keep their text. */
export async function loadHtml(html: string): Promise<LoadedText> {
  const { parse, defaultTreeAdapter } = await import('parse5')
  let [elements, depth] = [0, 0]
  const document = parse(html, {
    treeAdapter: {
      ...defaultTreeAdapter,
      createElement(...args: Parameters<typeof defaultTreeAdapter.createElement>) {
        if (++elements > maxElements) throw tooLarge(`more than ${maxElements} elements`)
        return defaultTreeAdapter.createElement(...args)
      },
      onItemPush() {
        if (++depth > maxDepth) throw tooLarge(`elements in more than ${maxDepth} others`)
      },
      onItemPop() {
        depth--
      },
    },
  })
  const reader = new HtmlReader()
  reader.read(document)
  const { blocks, title } = reader.end()
  return { blocks, title: title ?? blocks.find(({ heading }) => heading === 1)?.text }
}

/** Collects the paragraphs of a page. */
class HtmlReader {
  readonly #blocks: Block[] = []
  #title: string | undefined
  #text = ''
  #heading: number | undefined
  #isPreformatted = false

  read(node: Html.ParentNode): void {
    for (const child of node.childNodes)
      if (child.nodeName === '#text') this.#add((child as Html.TextNode).value)
      else if ('tagName' in child) this.#element(child)
  }

  end(): LoadedText {
    this.#flush()
    return { blocks: this.#blocks, title: this.#title }
  }

  /** Line breaks and repeated spaces of the source are one space, except in code. */
  #add(text: string): void {
    const spaced = this.#isPreformatted ? text : text.replace(/\s+/g, ' ')
    this.#text += !this.#isPreformatted && /\s/.test(this.#text.at(-1) ?? ' ') ? spaced.trimStart() : spaced
  }

  #element(element: Html.Element): void {
    const { tagName, attrs } = element
    if (tagName === 'head') this.#title = titleIn(element)
    if (hiddenNames.has(tagName) || attrs.some(({ name }) => name === 'hidden')) return
    if (tagName === 'br') this.#text += '\n'
    else if (tagName === 'img') this.#text += attrs.find(({ name }) => name === 'alt')?.value ?? ''
    else if (blockNames.has(tagName)) this.#block(element)
    else {
      this.read(element)
      if (tagName === 'td' || tagName === 'th') this.#text += ' | '
    }
  }

  #block(element: Html.Element): void {
    this.#flush()
    const level = /^h([1-6])$/.exec(element.tagName)?.[1]
    if (level !== undefined) this.#heading = Number(level)
    this.#isPreformatted ||= element.tagName === 'pre'
    this.read(element)
    this.#flush()
    if (element.tagName === 'pre') this.#isPreformatted = false
  }

  #flush(): void {
    const text = plainText(this.#text)
    if (text !== '') this.#blocks.push({ text, ...(this.#heading !== undefined && { heading: this.#heading }) })
    this.#text = ''
    this.#heading = undefined
  }
}

function titleIn({ childNodes }: Html.Element): string | undefined {
  const title = childNodes.find((node): node is Html.Element => node.nodeName === 'title')
  const text = title?.childNodes.map((node) => (node as Html.TextNode).value ?? '').join('') ?? ''
  return plainText(text) || undefined
}

/** Removes the separator behind the last cell of a row, and empty lines around the text. */
function plainText(text: string): string {
  const end = text.trimEnd()
  return (end.endsWith(' |') ? end.slice(0, -2) : end).trimEnd().replace(/^\n+/, '')
}

function tooLarge(what: string): AlliumError {
  return new AlliumError('options.invalid', `The HTML has ${what}. Put its text, or a part of it.`)
}
