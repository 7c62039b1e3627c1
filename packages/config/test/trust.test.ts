// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a config holds ${NAME}
import { symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { absolute } from '../src/entries/paths.ts'
import { type AlliumConfig, createLoader, type LoadOptions, loadConfig } from '../src/index.ts'
import { hooks, project, write } from './kit.ts'

const model = scriptedModel([])
const load = (config: unknown, options: LoadOptions = {}) =>
  loadConfig(config as AlliumConfig, { model, ...options }).then(
    () => 'loaded',
    (error) => error.code,
  )

describe('a config object from elsewhere', () => {
  test.each([
    ['inline code', { agent: { middleware: { beforeLoopBegin: ['(ctx) => process.exit(1)'] } } }],
    ['a shell command', { agent: { middleware: { beforeLoopBegin: ['shell: touch owned'] } } }],
    ['a file', { agent: { middleware: { beforeLoopBegin: ['./hook.ts'] } } }],
    ['a function', { agent: { middleware: { beforeLoopBegin: [() => {}] } } }],
    ['tools', { agent: { tools: ['./tool.ts'] } }],
    ['servers', { agent: { mcp: { files: { command: 'touch', args: ['owned'] } } } }],
    ['a layer', { agent: { use: [{ name: 'mine', turn: () => {} }] } }],
    ['a model that is an object', { agent: { model } }],
    ['instructions that are a function', { agent: { instructions: () => '' } }],
    ['an object of a class', { agent: new (class Agent {})() }],
  ])('may not bring %s', async (_what, config) => {
    expect(await load(config)).toBe('config.untrusted')
  })

  test('may name packs, whose options are checked', async () => {
    const made: unknown[] = []
    const loadConfig = createLoader({ packs: { 'guard.none': { create: () => ({ name: `none${made.push(1)}` }) } } })
    await loadConfig({ agent: { use: ['guard.none', { 'guard.none': null }] } }, { model })
    expect(made).toHaveLength(2)
    await expect(loadConfig({ agent: { use: [{ 'guard.none': { a: 1 } }] } }, { model })).rejects.toThrow(
      'this pack takes none',
    )
    await expect(loadConfig({ agent: { use: ['guard.constructor', 'constructor'] } }, { model })).rejects.toThrow(
      'not known',
    )
  })

  test('is not filled in from the environment', async () => {
    const secret = scriptedModel(['Hello.'])
    const agent = await loadConfig({ agent: { instructions: '${KEY}' } }, { model: secret, env: { KEY: 'sk-1' } })
    await agent.run('Hi')
    expect(secret.requests[0]?.messages[0]?.content).toBe('${KEY}')
  })

  test('may bring code where the caller says so', async () => {
    expect(await load({ agent: { middleware: { beforeLoopBegin: ['() => {}'] } } }, { trusted: true })).toBe('loaded')
  })

  test('is looked at once: getters that change their mind are copied, __proto__ is refused', async () => {
    let asked = 0
    const config = { agent: Object.defineProperty({}, 'name', { enumerable: true, get: () => `a${asked++}` }) }
    expect(await load(config)).toBe('loaded')
    expect(asked).toBe(1)
    expect(await load(JSON.parse('{"agent": {"__proto__": {"middleware": {}}}}'))).toBe('config.invalid')
  })
})

describe('a config file', () => {
  test('that the caller does not trust may name packs only', async () => {
    const root = project({
      'a.yml': hooks({ onError: ['() => {}'] }),
      'b.ts': 'export default {}',
      'c.yml': 'agent: { name: "${X}" }',
    })
    expect(await load(join(root, 'a.yml'), { trusted: false })).toBe('config.untrusted')
    expect(await load(join(root, 'b.ts'), { trusted: false })).toBe('config.untrusted')
    expect(await load(join(root, 'c.yml'), { trusted: false, env: {} })).toBe('loaded')
  })
})

describe('a file that a config names', () => {
  const outside = () => write(project(), 'hook.ts', 'export default () => {}')
  const entry = (path: string, options: LoadOptions = {}, hook = 'onError') => {
    const root = project({ 'inside.ts': 'export default () => {}' })
    return { root, load: () => load(write(root, 'allium.config.yml', hooks({ [hook]: [path] })), options) }
  }

  test('stands inside the folder of the config', async () => {
    expect(await entry('./inside.ts').load()).toBe('loaded')
    expect(await entry(outside()).load()).toBe('config.outside')
    expect(await entry(outside(), { allowOutside: true }).load()).toBe('loaded')
  })

  test('does not get out by .., also in a shell command', async () => {
    const there = outside()
    const { root, load } = entry(`../${basename(join(there, '..'))}/hook.ts`)
    expect(root).not.toBe(there)
    expect(await load()).toBe('config.outside')
    expect(await entry('shell: ../../bin/sh -c true').load()).toMatch(/config\.(outside|not_found)/)
  })

  test('does not get out by a link', async () => {
    const { root, load } = entry('./link.ts')
    symlinkSync(outside(), join(root, 'link.ts'))
    expect(await load()).toBe('config.outside')
  })

  test('may be reached through a folder that is a link itself', async () => {
    const root = project({
      'inside.ts': 'export default () => {}',
      'allium.config.yml': hooks({ onError: ['./inside.ts'] }),
    })
    const link = join(project(), 'link')
    symlinkSync(root, link)
    expect(await load(join(link, 'allium.config.yml'))).toBe('loaded')
  })

  test('may be a program anywhere, behind shell:', async () => {
    expect(await entry('shell: /usr/local/bin/my-checker').load()).toBe('loaded')
    expect(absolute('~/checker', '/project')).toBe(join(homedir(), 'checker'))
  })

  test('is a tool only inside, too', async () => {
    const root = project()
    const config = write(root, 'allium.config.yml', JSON.stringify({ agent: { tools: [outside()] } }))
    expect(await load(config)).toBe('config.outside')
  })
})
