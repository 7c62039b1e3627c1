import { posix } from 'node:path'
import type { SitePage } from './site-pages.ts'
import { urlOf } from './site-pages.ts'

export interface Section {
  readonly text: string
  readonly items: readonly Entry[]
}

interface Entry {
  readonly text: string
  /** The address on the site, with the heading. */
  readonly link: string
  readonly page: SitePage
  readonly about: string
}

/** The sections of docs/README.md, which is the one list of the pages, in its order. */
export function readSections(index: readonly string[], pages: ReadonlyMap<string, SitePage>): Section[] {
  const sections: { text: string; items: Entry[] }[] = []
  for (const line of index) {
    const [, title] = /^\*\*(.+)\*\*$/.exec(line) ?? []
    if (title !== undefined) sections.push({ text: title, items: [] })
    else sections.at(-1)?.items.push(...entriesOf(line, pages))
  }
  return sections
}

function entriesOf(line: string, pages: ReadonlyMap<string, SitePage>): Entry[] {
  const about = /\): (.+)$/.exec(line)?.[1] ?? ''
  return [...line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].flatMap(([, text = '', href = '']) => {
    const [path = '', heading] = href.split('#')
    const page = pages.get(posix.join('docs', path))
    if (page === undefined) return []
    const link = urlOf(page.file) + (heading === undefined ? '' : `#${heading}`)
    return [{ text: text.replaceAll('`', ''), link, page, about }]
  })
}
