import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))
const published = readdirSync(packages)
  .map((name) => join(packages, name))
  .filter((dir) => existsSync(join(dir, 'package.json')))
  .map((dir) => ({ dir, ...JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) }))

describe.each(published)('the tarball of $name', ({ dir, files = [], scripts }) => {
  test('is packed with a fresh build, also in a clone where nothing was built', () => {
    expect(files).toContain('dist')
    expect(scripts.prepack).toBe('turbo run build --output-logs=errors-only')
  })

  test('has a README whose links lead to files that are shipped, or to the web', () => {
    const readme = readFileSync(join(dir, 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, to]) => to as string)
    const local = links.filter((to) => !/^(https?:|#)/.test(to))
    expect(local.filter((to) => !files.some((file: string) => to === file || to.startsWith(`${file}/`)))).toEqual([])
  })
})
