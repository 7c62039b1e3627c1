import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { expect, it, onTestFinished } from 'vitest'

const source = fileURLToPath(new URL('../src/import-module.ts', import.meta.url))
const modules = fileURLToPath(new URL('../node_modules', import.meta.url))

/** Imports a module in a plain process of Node, without a loader for TypeScript, and returns what the process prints. */
function printed(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'allium-import-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  symlinkSync(modules, join(root, 'node_modules'))
  const { code } = transformSync(readFileSync(source, 'utf8'), { loader: 'ts', format: 'esm' })
  writeFileSync(join(root, 'import-module.mjs'), code)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content)
  const program = `import { importModule } from './import-module.mjs'
try { console.log((await importModule(${JSON.stringify(join(root, 'main.ts'))})).default) } catch (error) { console.log(error.message) }`
  writeFileSync(join(root, 'run.mjs'), program)
  return execFileSync(process.execPath, [join(root, 'run.mjs')], { encoding: 'utf8', env: { PATH: process.env.PATH } })
}

it('imports TypeScript with enums, top-level await and paths without an extension, once', () => {
  const files = {
    'main.ts': `import { Size } from './size'
console.log('main runs')
export default await Promise.resolve(Size.Large as number)`,
    'size.ts': 'export enum Size { Small = 1, Large = 2 }',
  }
  expect(printed(files)).toBe('main runs\n2\n')
})

it('reports the error of a module that throws, and a package that is missing', () => {
  expect(printed({ 'main.ts': 'throw new Error("out of ideas")' })).toBe('out of ideas\n')
  expect(printed({ 'main.ts': `import 'no-such-package'` })).toContain('no-such-package')
})
