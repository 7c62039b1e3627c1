import { posix } from 'node:path'
import { slug } from '../../../docs/test/pages.ts'
import { type SitePage, urlOf } from './site-pages.ts'

type Pages = ReadonlyMap<string, SitePage>

export interface OldAddress {
  /** The former place below the site's root, without an ending: `decisions/0002-restore-when-next-settles`. */
  readonly file: string
  /** The page that has the content now. */
  readonly page: SitePage
  /** The address of that page with its heading. */
  readonly url: string
}

/** The one list of pages and headings that have another address now. */
const list = 'docs/decisions/0051-old-addresses.md'

/** Returns the pages of the list that moved. */
export function readOldAddresses(pages: Pages): OldAddress[] {
  return matches(pages, /^\| `docs\/([^`]+)\.md` \| \[.+\]\(([^)]+)\) \|$/).map(([, file = '', href = '']) => ({
    file,
    ...targetOf(href, pages),
  }))
}

/** Returns the addresses of headings that their page no longer has, each with its address now. */
export function readOldHeadings(pages: Pages): Record<string, string> {
  const rows = matches(pages, /^\| `(docs\/[^`]+\.md)` \| `(.+)` \| \[.+\]\(([^)]+)\) \|$/)
  const moved = rows.flatMap(([, path = '', heading = '', href = '']) => {
    const from = pages.get(path)
    if (from === undefined || from.lines.some((line) => /^#+ /.test(line) && slug(line) === slug(heading))) return []
    return [[`${urlOf(from.file)}#${slug(heading)}`, targetOf(href, pages).url]]
  })
  return Object.fromEntries(moved)
}

function matches(pages: Pages, row: RegExp): RegExpExecArray[] {
  return (pages.get(list)?.lines ?? []).map((line) => row.exec(line)).filter((match) => match !== null)
}

function targetOf(href: string, pages: Pages): Pick<OldAddress, 'page' | 'url'> {
  const [path = '', heading] = href.split('#')
  const page = pages.get(posix.join(posix.dirname(list), path))
  if (page === undefined) throw new Error(`${list}: ${href} is not a page. Link to the page that has the content now.`)
  return { page, url: urlOf(page.file) + (heading === undefined ? '' : `#${heading}`) }
}

/** The page at an old address, which leads a browser to the new one. */
export function redirectPage({ url }: OldAddress): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="${url}">
<meta http-equiv="refresh" content="0; url=${url}">
<main><h1>Moved</h1><p>This page is now at <a href="${url}">${url}</a>.</p></main>
</html>
`
}

/** The same for readers of plain pages. */
export function plainRedirect({ page }: OldAddress): string {
  return `# Moved\n\nThis page is now at [${page.file}](/${page.file}).\n`
}
