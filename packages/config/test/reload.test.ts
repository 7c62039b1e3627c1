import { join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type LoadOptions, loadConfig } from '../src/index.ts'
import { FileWatch } from '../src/watch-files.ts'
import { type Files, project, write } from './kit.ts'

type Outcome = Parameters<NonNullable<LoadOptions['onReload']>>[0]

/** A session of an agent whose config is watched; `change` writes a file and waits for the reload. */
async function watched(files: Files) {
  const root = project(files)
  const model = scriptedModel(Array.from({ length: 9 }, () => 'Hello.'))
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  let told: (outcome: Outcome) => void = () => {}
  const agent = await loadConfig(join(root, 'allium.config.yml'), {
    model,
    logger,
    watch: true,
    onReload: (outcome) => told(outcome),
  })
  await agent.init()
  onTestFinished(() => agent.dispose())
  const change = (path: string, text: string) => {
    const reloaded = new Promise<Outcome>((resolve) => (told = resolve))
    write(root, path, text)
    return reloaded
  }
  const session = agent.session()
  const ask = async () => {
    await session.run('Hi')
    return model.requests.at(-1)?.messages.map(({ content }) => content)
  }
  return { agent, change, ask, warnings, root }
}

const says = (text: string) =>
  `agent:\n  instructions: ${text}\n  middleware:\n    beforeModelCall:\n      - ./hook.ts\n`
const adds = (text: string) =>
  `export default (ctx) => { ctx.request.messages.push({ role: 'user', content: '${text}' }) }`

describe('a config that is watched', () => {
  test('is read again when it changes, and sessions go on', async () => {
    const { ask, change } = await watched({ 'allium.config.yml': says('One'), 'hook.ts': adds('a') })
    expect(await ask()).toEqual(['One', 'Hi', 'a'])
    expect((await change('allium.config.yml', says('Two'))).error).toBeUndefined()
    expect(await ask()).toEqual(['Two', 'Hi', 'Hello.', 'Hi', 'a'])
  })

  test('is read again when a file of a hook changes', async () => {
    const { ask, change } = await watched({ 'allium.config.yml': says('One'), 'hook.ts': adds('a') })
    await change('hook.ts', adds('b'))
    expect(await ask()).toEqual(['One', 'Hi', 'b'])
  })

  test('takes what the files of hooks import afresh, and inline hooks as they are now', async () => {
    const inline = (text: string) =>
      `agent:\n  middleware:\n    beforeModelCall:\n      - ./hook.ts\n      - "(ctx) => { ctx.request.messages.push({ role: 'user', content: '${text}' }) }"\n`
    const hook =
      "import { text } from './text.ts'\nexport default (ctx) => { ctx.request.messages.push({ role: 'user', content: text }) }"
    const files = { 'allium.config.yml': inline('a'), 'hook.ts': hook, 'text.ts': "export const text = 'b'" }
    const { ask, change, root } = await watched(files)
    expect(await ask()).toEqual(['Hi', 'b', 'a'])
    write(root, 'text.ts', "export const text = 'c'")
    await change('allium.config.yml', inline('d'))
    expect((await ask())?.slice(-2)).toEqual(['c', 'd'])
  })

  test('stays as it was while it has a mistake', async () => {
    const { ask, change } = await watched({ 'allium.config.yml': says('One'), 'hook.ts': adds('a') })
    expect((await change('allium.config.yml', 'agent: [')).error).toMatchObject({ code: 'config.invalid' })
    expect(await ask()).toEqual(['One', 'Hi', 'a'])
    expect((await change('allium.config.yml', says('Three'))).error).toBeUndefined()
    expect(await ask()).toEqual(['Three', 'Hi', 'Hello.', 'Hi', 'a'])
  })

  test('warns of what takes effect with a new agent alone', async () => {
    const { change, warnings } = await watched({ 'allium.config.yml': 'agent: {}' })
    await change('allium.config.yml', 'agent: { maxIterations: 3 }')
    expect(warnings[0]).toContain('name, maxIterations, tools, mcp or use')
  })

  test('is watched until the agent is disposed', async () => {
    const { change, agent, root } = await watched({ 'allium.config.yml': 'agent: {}' })
    await agent.dispose()
    const after = await new Promise<string>((resolve) => {
      const other = new FileWatch(resolve)
      onTestFinished(() => other.close())
      other.watch([join(root, 'allium.config.yml')])
      void change('allium.config.yml', 'agent: { thinking: low }').then(() => resolve('reloaded'))
    })
    expect(after).toBe(join(root, 'allium.config.yml'))
  })
})
