import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, expect, inject, it } from 'vitest'
import { copyOf, remove } from './app-copy.ts'
import { run } from './runtimes.ts'

// A coding agent has node_modules and a task: "write a layer, and check it with the conformance suite". It follows the pages there.
const folder = copyOf(inject('app'), {})
const installed = (path: string) => readFileSync(join(folder, 'node_modules', path), 'utf8')
afterAll(() => remove(folder))

it('AGENTS.md of each package names pages that are there', () => {
  for (const name of ['allium', '@allium/core', '@allium/guard', '@allium/server', '@allium/testing']) {
    const links = [...installed(`${name}/AGENTS.md`).matchAll(/\]\((docs\/[^)]+)\)/g)].map(([, path]) => path)
    expect(links.length, name).toBeGreaterThan(0)
    for (const path of links) expect(installed(`${name}/${path}`), `${name}/${path}`).toMatch(/^# /)
  }
})

it('the steps of the installed guide lead to a layer that passes layerConformance', async () => {
  const guide = installed('@allium/core/docs/guide/write-a-pack.md')
  const fences = [...guide.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code as string)
  const suite = fences.find((code) => code.includes('layerConformance(')) as string
  writeFileSync(join(folder, 'layer.test.mjs'), toJavaScript(suite.replace("'vitest'", "'node:test'")))
  const report = await run('Node (this one)', ['--test', '--test-reporter=tap', 'layer.test.mjs'], folder)
  expect(Number(/^# pass (\d+)/m.exec(report)?.[1])).toBeGreaterThan(15)
  expect(report).toMatch(/^# fail 0/m)
})

it('each program of the installed guide runs', async () => {
  const guide = installed('@allium/core/docs/guide/write-a-pack.md')
  const fences = [...guide.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code as string)
  const programs: string[] = []
  for (const code of fences.filter((code) => !code.includes('vitest')))
    if (code.startsWith('// Continues the program above.')) programs.push(`${programs.pop()}\n${code}`)
    else programs.push(code)
  for (const [n, code] of programs.entries()) {
    writeFileSync(join(folder, `guide-${n}.mjs`), toJavaScript(code))
    await run('Node (this one)', [`guide-${n}.mjs`], folder)
  }
})

function toJavaScript(code: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  return ts.transpileModule(code, { compilerOptions }).outputText
}
