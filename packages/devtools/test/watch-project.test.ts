import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchProject } from '../src/host/watch-project.ts'

/** Watches a new folder with these files, all empty. Returns the folder, and the changes so far. */
async function watched(...files: string[]) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-watched-')))
  const write = (file: string) => writeFileSync(join(cwd, file), String(Math.random()))
  for (const file of files) write(file)
  const changed = new Set<string>()
  const stop = await watchProject(cwd, (names) => {
    for (const name of names) changed.add(name)
  })
  onTestFinished(async () => {
    await stop()
    rmSync(cwd, { recursive: true })
  })
  return { cwd, changed, write }
}

test('reports a changed source file, not the folder and the file of a database', async () => {
  const { cwd, changed, write } = await watched()
  mkdirSync(join(cwd, '.data'))
  write('.data/app.db')
  write('agent.ts')
  await expect.poll(() => [...changed]).toEqual(['agent.ts'])
})

test('reports a changed prompt, not a text or JSON file that a tool makes and changes', async () => {
  const { changed, write } = await watched('prompt.md', 'agent.ts')
  write('notes.md')
  write('orders.json')
  write('agent.ts')
  await expect.poll(() => [...changed]).toEqual(['agent.ts'])
  write('notes.md')
  write('prompt.md')
  await expect.poll(() => [...changed]).toEqual(['agent.ts', 'prompt.md'])
})
