import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLoader, loadConfig, packs } from '../src/config.ts'

function file(text: string, name = 'allium.config.yml'): string {
  const root = mkdtempSync(join(tmpdir(), 'allium-config-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, name), text)
  return join(root, name)
}

describe('loadConfig of the umbrella', () => {
  test('makes layers of packs, in their order around the hooks', async () => {
    const yaml = `agent:
  use:
    - model.retry: { attempts: 2 }
    - observe.usage
    - guard.budget: { limit: 1, per: turn }
  middleware:
    beforeModelCall: ["() => {}"]
`
    const agent = await loadConfig(file(yaml), { model: scriptedModel([new Error('overloaded')]) })
    expect(agent.inspect().scopes.model).toEqual([
      'config:loop',
      'model:retry',
      'config:model',
      'observe:usage',
      'guard:budget',
    ])
  })

  test.each([
    [
      'an option that is not known',
      'guard.budget: { limit: 1, perr: turn }',
      ':3:33: agent.use[0]["guard.budget"].perr is not known',
    ],
    [
      'an option of another type',
      'guard.budget: { limit: much }',
      ':3:30: agent.use[0]["guard.budget"].limit is "much": expected number',
    ],
    ['an option that is missing', 'guard.budget', ':3:7: agent.use[0].limit is missing: expected number'],
    ['what a pack refuses itself', 'guard.policy: {}', 'is invalid: "guard:policy" allows everything'],
    [
      'a pack that there is not',
      'guard.firewall',
      'names the pack "guard.firewall", which is not known. Available: guard.files, ',
    ],
  ])('tells the place of %s', async (_what, entry, message) => {
    const error = await loadConfig(file(`agent:\n  use:\n    - ${entry}\n`), { model: scriptedModel([]) }).catch(
      (error) => error,
    )
    expect(error.code).toBe('config.invalid')
    expect(error.message).toContain(message)
  })

  test('tells the place of the second of two layers with one name', async () => {
    const error = await loadConfig(file('agent:\n  use:\n    - observe.usage\n    - observe.usage\n'), {
      model: scriptedModel([]),
    }).catch((error) => error)
    expect(error.message).toContain(':4:7: agent.use[1] is invalid: Two layers are named "observe:usage"')
  })

  test('blocks by a budget from an object that came from elsewhere', async () => {
    const config = { agent: { use: [{ 'guard.budget': { limit: 0 } }] } }
    const { status } = await (
      await loadConfig(config, { model: scriptedModel(['Hello.'], { id: 'openai/gpt-5' }) })
    ).run('Hi')
    expect(status).toBe('blocked')
  })

  test('finds a model by its name', async () => {
    const agent = await loadConfig(file('agent:\n  model: openai/gpt-5\n'), {
      resolveModel: (ref) => scriptedModel([`I am ${ref}.`]),
    })
    expect((await agent.run('Who?')).text).toBe('I am openai/gpt-5.')
  })

  test('gives files in TypeScript its own copy of allium', async () => {
    const config = `import { defineConfig } from 'allium/config'
import * as guard from 'allium/guard'
export default defineConfig({ agent: { use: [guard.budget({ limit: 0 })] } })`
    const agent = await loadConfig(file(config, 'allium.config.ts'), {
      model: scriptedModel(['Hello.'], { id: 'openai/gpt-5' }),
    })
    expect((await agent.run('Hi')).status).toBe('blocked')
  })

  test('says what MCP servers need', async () => {
    const load = createLoader({ packs })
    const error = await load(file('agent:\n  mcp:\n    files: { command: files-server }\n'), {
      model: scriptedModel([]),
    }).catch((error) => error)
    expect(error).toMatchObject({
      code: 'config.unsupported',
      message: expect.stringContaining(':3:12: agent.mcp.files needs the pack tools.mcp'),
    })
  })
})
