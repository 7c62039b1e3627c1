import { posix } from 'node:path'
import { type SitePage, urlOf } from './site-pages.ts'

export interface OldAddress {
  /** The former place below the site's root, without an ending: `decisions/0002-restore-when-next-settles`. */
  readonly file: string
  /** The page that has the content now. */
  readonly page: SitePage
  /** The address of that page with its heading. */
  readonly url: string
}

const list = 'docs/decisions/0051-old-addresses.md'

/** The pages that have another address now. docs/decisions/0051-old-addresses.md is the one list of them. */
export function readOldAddresses(pages: ReadonlyMap<string, SitePage>): OldAddress[] {
  return (pages.get(list)?.lines ?? []).flatMap((line) => {
    const [, file, href] = /^\| `docs\/([^`]+)\.md` \| \[.+\]\(([^)]+)\) \|$/.exec(line) ?? []
    if (file === undefined || href === undefined) return []
    const [path = '', heading] = href.split('#')
    const page = pages.get(posix.join(posix.dirname(list), path))
    if (page === undefined)
      throw new Error(`${list}: ${href} is not a page. Link to the page that has the content now.`)
    return [{ file, page, url: urlOf(page.file) + (heading === undefined ? '' : `#${heading}`) }]
  })
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
