import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCodes } from '@allium/core'
import { guard } from 'allium'
import { describe, expect, test } from 'vitest'
import { findPages, type Page, root } from './pages.ts'

const pages = findPages()

describe('the pages of the docs', () => {
  test('tell each error code, and each code of a block, in one line of docs/concepts/errors.md', () => {
    const lines = pages.find(({ path }) => path === 'docs/concepts/errors.md')?.lines ?? []
    const told = lines.flatMap((line) => /^\| `([a-z_]+\.[a-z_]+)` \|/.exec(line)?.[1] ?? [])
    expect(told.sort()).toEqual([...errorCodes, ...guard.guardCodes].sort())
  })

  test('link only to files and headings that exist', () => {
    expect(pages.flatMap(brokenLinks)).toEqual([])
  })

  test('are all reached from docs/README.md or the root', () => {
    const linked = new Set(pages.flatMap((page) => targets(page).map(({ file }) => file)))
    const lost = pages.filter(({ path }) => path.startsWith('docs/') && !linked.has(join(root, path)))
    expect(lost.map(({ path }) => path)).toEqual([])
  })
})

interface Target {
  line: number
  href: string
  /** Absolute. */
  file: string
  heading: string | undefined
}

function brokenLinks(page: Page): string[] {
  return targets(page)
    .filter(({ file, heading }) => !existsSync(file) || (heading !== undefined && !hasHeading(file, heading)))
    .map(({ line, href }) => `${page.path}:${line} ${href}`)
}

/** The relative links and pictures of a page, outside its fences. */
function targets({ path, lines }: Page): Target[] {
  let fenced = false
  return lines.flatMap((text, at) => {
    if (text.startsWith('```')) fenced = !fenced
    if (fenced) return []
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)].map(([, a, b]) => (a ?? b) as string)
    return links
      .filter((href) => !/^[a-z]+:/.test(href))
      .map((href): Target => {
        const [file = '', heading] = href.split('#')
        return { line: at + 1, href, file: join(root, file === '' ? path : join(dirname(path), file)), heading }
      })
  })
}

function hasHeading(file: string, heading: string): boolean {
  const page = pages.find(({ path }) => join(root, path) === file)
  return page?.lines.some((line) => /^#+ /.test(line) && slug(line) === heading) === true
}

/** As GitHub makes it. */
function slug(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}
