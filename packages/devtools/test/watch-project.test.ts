import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { watchProject } from '../src/host/watch-project.ts'

test('reports a changed source file, not the folder and the file of a database', async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'allium-watched-')))
  const changed: string[] = []
  const stop = await watchProject(cwd, (files) => changed.push(...files))
  onTestFinished(async () => {
    await stop()
    rmSync(cwd, { recursive: true })
  })
  mkdirSync(join(cwd, '.data'))
  writeFileSync(join(cwd, '.data/app.db'), '')
  writeFileSync(join(cwd, 'agent.ts'), '')
  await expect.poll(() => changed, { timeout: 15_000 }).not.toEqual([])
  expect(changed).toEqual(['agent.ts'])
})
