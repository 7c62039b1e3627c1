import { expect, test } from 'vitest'
import { readOldAddresses, readOldHeadings, redirectPage } from '../src/old-addresses.ts'
import { type SitePage, sitePages, urlOf } from '../src/site-pages.ts'

const list = 'docs/decisions/0051-old-addresses.md'

test('an old address leads to the page and the heading that have its content now', () => {
  const lines = [
    '| `docs/guide/old.md` | [Keys](../guide/stores.md#keys) |',
    '| `docs/guide/x.md` | `Old` | [New](x.md) |',
  ]
  const found = readOldAddresses(pagesOf({ [list]: lines, 'docs/guide/stores.md': ['# Stores'] }))
  expect(found.map(({ file, url }) => [file, url])).toEqual([['guide/old', '/guide/stores#keys']])
  expect(found.map(redirectPage).join()).toContain('<meta http-equiv="refresh" content="0; url=/guide/stores#keys">')
})

test('the address of a heading that moved to another page leads there, unless the old page still has it', () => {
  const rows = [
    '| `docs/guide/stores.md` | `Run `x` yourself` | [Keys](../guide/keys.md#run) |',
    '| `docs/guide/stores.md` | `Errors` | [Errors](../guide/keys.md) |',
  ]
  const pages = pagesOf({ [list]: rows, 'docs/guide/stores.md': ['# Stores', '## Errors'], 'docs/guide/keys.md': [] })
  expect(readOldHeadings(pages)).toEqual({ '/guide/stores#run-x-yourself': '/guide/keys#run' })
})

test('an old address that leads to a page that does not exist is an error', () => {
  const pages = pagesOf({ [list]: ['| `docs/guide/old.md` | [Gone](../guide/gone.md) |'] })
  expect(() => readOldAddresses(pages)).toThrow('../guide/gone.md is not a page')
})

test('no page of today has an old address', () => {
  const pages = sitePages()
  const old = readOldAddresses(new Map(pages.map((page) => [page.path, page]))).map(({ file }) => `/${file}`)
  expect(old.length).toBeGreaterThan(25)
  expect(old.filter((url) => pages.some(({ file }) => urlOf(file) === url))).toEqual([])
})

function pagesOf(lines: Readonly<Record<string, readonly string[]>>): Map<string, SitePage> {
  return new Map(
    Object.entries(lines).map(([path, lines]) => [path, { path, file: path.replace('docs/', ''), lines: [...lines] }]),
  )
}
