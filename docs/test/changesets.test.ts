import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './pages.ts'

const folder = join(root, '.changeset')
const changesets = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))

test('a changeset names only packages of this repository', () => {
  const packages = readdirSync(join(root, 'packages')).map((name) => manifestOf(name).name)
  const named = changesets.flatMap(({ text }) => [...text.matchAll(/^'(.+)': (?:major|minor|patch)$/gm)])
  expect(named.map(([, name]) => name).filter((name) => !packages.includes(name as string))).toEqual([])
})

test('the links of a changeset lead to files from the changelog of a package, where its text goes', () => {
  const links = changesets.flatMap(({ name, text }) =>
    [...text.matchAll(/\]\((\.[^)#]+)/g)].map(([, href]) => ({ name, href: href as string })),
  )
  expect(links.filter(({ href }) => !existsSync(join(root, 'packages/core', href)))).toEqual([])
})

function manifestOf(name: string): { name: string } {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}
