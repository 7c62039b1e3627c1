import { expect, test } from 'vitest'
import { findPages } from './pages.ts'

const pages = findPages().filter(({ path }) => /^docs\/decisions\/\d/.test(path))

test('each decision begins with its status: it holds, or a link leads to its replacement', () => {
  const begins = pages.filter(({ lines }) => !/^Status: (holds\b|replaced by \[.+\]\(.+\.md)/.test(lines[2] ?? ''))
  expect(begins.map(({ path }) => path)).toEqual([])
})

test('each decision is in the list of docs/decisions/README.md, once', () => {
  const list = findPages().find(({ path }) => path === 'docs/decisions/README.md')?.lines ?? []
  const listed = list.flatMap((line) => /^\| \[\d+\]\(([^)]+)\) \|/.exec(line)?.[1] ?? [])
  expect(listed.map((file) => `docs/decisions/${file}`)).toEqual(pages.map(({ path }) => path))
})
