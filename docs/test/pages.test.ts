import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { errorCodes } from '@allium/core'
import * as guard from 'allium/guard'
import { describe, expect, test } from 'vitest'
import { findPages, type Page, root, slug } from './pages.ts'

const pages = findPages()

describe('the pages of the docs', () => {
  test('tell each error code, and each code of a block, in one line of docs/concepts/errors.md', () => {
    const lines = pages.find(({ path }) => path === 'docs/concepts/errors.md')?.lines ?? []
    const told = lines.flatMap((line) => /^\| `([a-z_]+\.[a-z_]+)` \|/.exec(line)?.[1] ?? [])
    expect(told.sort()).toEqual([...errorCodes, ...guard.guardCodes].sort())
  })

  test('tell each event in docs/concepts/events.md', () => {
    const lines = pages.find(({ path }) => path === 'docs/concepts/events.md')?.lines ?? []
    const told = lines.filter((line) => line.startsWith('| `')).flatMap((line) => named(line.split('|')[1] as string))
    expect(told.sort()).toEqual(eventNames().sort())
  })

  test('tell the fields of each event in docs/reference/events.md', () => {
    const lines = pages.find(({ path }) => path === 'docs/reference/events.md')?.lines ?? []
    const missing = eventNames().filter((name) => !lines.includes(`### ${name}`))
    expect(missing).toEqual([])
  })

  test('tell in docs/concepts/sub-agents.md which layers sub-agents inherit', () => {
    const lines = pages.find(({ path }) => path === 'docs/concepts/sub-agents.md')?.lines ?? []
    const rows = lines.filter((line) => /^\| \[(guard|observe|tools)\]/.test(line)).map((line) => line.split('|'))
    const told = rows.flatMap(([, pack = '', inherited = '']) =>
      named(inherited).map((name) => `${packOf(pack)}.${name}`),
    )
    expect(told.sort()).toEqual(inheritedLayers().sort())
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

function named(text: string): string[] {
  return [...text.matchAll(/`([\w:]+)`/g)].map(([, name]) => name as string)
}

function packOf(cell: string): string {
  return /\[(\w+)\]/.exec(cell)?.[1] ?? ''
}

/** The layers of packs whose file declares `inherit`; a file is named after its layer. */
function inheritedLayers(): string[] {
  return sources().flatMap((file) => {
    const pack = /packages\/(guard|observe|tools|model|memory)\/src/.exec(file)?.[1]
    if (pack === undefined || !/^ +inherit: true,$/m.test(readFileSync(file, 'utf8'))) return []
    return [`${pack}.${basename(file, '.ts').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}`]
  })
}

function sources(): string[] {
  const packages = join(root, 'packages')
  return readdirSync(packages).flatMap((name) => {
    const folder = join(packages, name, 'src')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file))
  })
}

/** The keys of `CoreEvents` and of each `AgentEvents` that a layer declares, from the sources. */
function eventNames(): string[] {
  return sources().flatMap((file) => {
    const declared = /interface (?:CoreEvents|AgentEvents) \{\n([\s\S]*?)\n *\}/g
    const bodies = [...readFileSync(file, 'utf8').matchAll(declared)].map(([, body]) => body as string)
    return bodies.flatMap((body) => [...body.matchAll(/^ +'?([\w:]+)'?: /gm)].map(([, name]) => name as string))
  })
}

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
