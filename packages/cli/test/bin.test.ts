import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('a clone has the file of the command before the first build, so that pnpm can link it', () => {
  const { bin, files } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(existsSync(new URL(`../${bin.allium}`, import.meta.url))).toBe(true)
  expect(bin.allium).not.toContain('dist')
  expect(files).toContain('bin.js')
})
