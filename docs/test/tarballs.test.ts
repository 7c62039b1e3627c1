import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const packages = fileURLToPath(new URL('../../packages', import.meta.url))
const published = readdirSync(packages)
  .map((name) => join(packages, name))
  .filter((dir) => existsSync(join(dir, 'package.json')))
  .map((dir) => ({ dir, ...JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) }))

/** The files that a package.json promises to programs. */
function promised({ exports = {}, imports = {}, bin = {} }: Record<string, object>): string[] {
  return [...JSON.stringify([exports, imports, bin]).matchAll(/"\.\/(dist\/[^"]+)"/g)].map(([, file]) => file as string)
}

describe.each(published)('the tarball of $name', ({ dir, files = [], scripts, ...rest }) => {
  test('is packed with a fresh build, also in a clone where nothing was built', () => {
    expect(files).toEqual(expect.arrayContaining(['AGENTS.md', 'dist', 'docs']))
    const docs = 'node --import=tsx ../../scripts/docs/ship-docs.ts .'
    expect(scripts.prepack).toBe(
      `turbo run build --root-turbo-json ../../scripts/turbo.json --output-logs=errors-only && ${docs}`,
    )
  })

  test('has every file that its exports, imports and bin name, built from a source that is there', async () => {
    const { default: built } = await import(join(dir, 'tsup.config.ts'))
    const made = built.entry.map((source: string) => source.replace(/^src\/(.*)\.ts$/, 'dist/$1'))
    const names = promised(rest).map((file) => file.replace(/\.(d\.ts|js)$/, ''))
    expect(names).not.toEqual([])
    expect(names.filter((name) => !made.includes(name))).toEqual([])
    expect(built.entry.filter((source: string) => !existsSync(join(dir, source)))).toEqual([])
  })

  test('has a README whose links lead to files that are shipped, or to the web', () => {
    const readme = readFileSync(join(dir, 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(([^)\s]+)[^)]*\)/g)].map(([, to]) => to as string)
    const local = links.filter((to) => !/^(https?:|#)/.test(to))
    expect(local.filter((to) => !files.some((file: string) => to === file || to.startsWith(`${file}/`)))).toEqual([])
  })
})
