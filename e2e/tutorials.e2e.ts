import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, expect, inject, it } from 'vitest'
import { copyOf, remove } from './app-copy.ts'
import { run } from './runtimes.ts'

const folder = copyOf(inject('app'), {})
afterAll(() => remove(folder))

it('the steps of "Run it durably" book one train, although the process is killed in the middle of the answer', async () => {
  const page = readFileSync('docs/guide/tutorial-durable.md', 'utf8')
  for (const [name, code] of filesOf(page)) writeFileSync(join(folder, name.replace(/ts$/, 'mjs')), toJavaScript(code))

  const first = spawn(process.execPath, ['index.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  for await (const chunk of first.stdout) {
    printed += chunk
    if (printed.includes('Your train')) break
  }
  first.kill('SIGKILL')
  if (first.exitCode === null && first.signalCode === null) await once(first, 'exit')

  const second = await run('Node (this one)', ['index.mjs'], folder)
  expect(second).toContain('completed: Your train leaves at nine. Have a good journey!')
  expect(readFileSync(join(folder, 'bookings.log'), 'utf8').trim().split('\n')).toHaveLength(1)

  const third = await run('Node (this one)', ['index.mjs'], folder)
  expect(third).toContain('completed: Your train leaves at nine. Have a good journey!')
})

/** The files that a page tells its readers to create, each from the fence after "Create `name`". */
function filesOf(page: string): Map<string, string> {
  const shown = page.replace(/<!-- setup[\s\S]*?-->/g, '')
  const step = /Create `([\w.-]+)`(?:, which begins with `(import [^`]+)`)?[\s\S]*?^```ts[^\n]*\n([\s\S]*?)^```/gm
  return new Map([...shown.matchAll(step)].map(([, name = '', head = '', code = '']) => [name, `${head}\n${code}`]))
}

function toJavaScript(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  return ts.transpileModule(code, { compilerOptions }).outputText.replaceAll(/'\.\/(\w+)\.ts'/g, "'./$1.mjs'")
}
