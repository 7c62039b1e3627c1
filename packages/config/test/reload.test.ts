import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel } from '@allium/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type LoadOptions, loadConfig } from '../src/index.ts'
import { FileWatch } from '../src/watch-files.ts'
import { type Files, project, write } from './kit.ts'

type Outcome = Parameters<NonNullable<LoadOptions['onReload']>>[0]

/** A session of an agent whose config is watched; `change` writes a file and waits for the reload. */
async function watched(files: Files, options: LoadOptions = {}, config = 'allium.config.yml') {
  const root = project(files)
  return watchedIn(root, options, config)
}

async function watchedIn(root: string, options: LoadOptions = {}, config = 'allium.config.yml') {
  const model = scriptedModel(Array.from({ length: 9 }, () => 'Hello.'))
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => {} }
  let told: (outcome: Outcome) => void = () => {}
  const agent = await loadConfig(join(root, config), {
    model,
    logger,
    watch: true,
    onReload: (outcome) => told(outcome),
    ...options,
  })
  await agent.init()
  onTestFinished(() => agent.dispose())
  const after = (act: () => void) => {
    const reloaded = new Promise<Outcome>((resolve) => (told = resolve))
    act()
    return reloaded
  }
  const change = (path: string, text: string) => after(() => write(root, path, text))
  const session = agent.session()
  const ask = async () => {
    await session.run('Hi')
    return model.requests.at(-1)?.messages.map(({ content }) => content)
  }
  return { agent, after, change, ask, model, warnings, root }
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

  test.each([
    ['had a mistake', '(('],
    ['was not there', undefined],
  ])('is read again when a hook is mended that is new and %s', async (_what, broken) => {
    const { ask, change, root } = await watched({ 'allium.config.yml': 'agent: {}' })
    if (broken !== undefined) write(root, 'hook.ts', broken)
    expect((await change('allium.config.yml', says('One'))).error).toMatchObject({
      code: expect.stringMatching(/^config.(hook|not_found)/),
    })
    expect((await change('hook.ts', adds('a'))).error).toBeUndefined()
    expect(await ask()).toEqual(['One', 'Hi', 'a'])
  })

  test('is read again when a link on its way is replaced, as Kubernetes does', async () => {
    const root = project({ '..1/allium.config.yml': says('One'), '..1/hook.ts': adds('a') })
    symlinkSync('..1', join(root, '..data'))
    for (const name of ['allium.config.yml', 'hook.ts']) symlinkSync(`..data/${name}`, join(root, name))
    const { ask, after } = await watchedIn(root)
    expect(await ask()).toEqual(['One', 'Hi', 'a'])
    for (const [folder, text] of [
      ['..2', 'b'],
      ['..3', 'c'],
    ] as const) {
      write(root, `${folder}/allium.config.yml`, says(text))
      write(root, `${folder}/hook.ts`, adds(text))
      const { error } = await after(() => {
        symlinkSync(folder, join(root, '..next'))
        renameSync(join(root, '..next'), join(root, '..data'))
      })
      expect(error).toBeUndefined()
      expect((await ask())?.filter((said) => !['Hi', 'Hello.'].includes(said as string))).toEqual([text, text])
    }
  })

  test('is read again when the folder that it is linked from is another', async () => {
    const root = project({
      'releases/1/allium.config.yml': 'agent: { instructions: One }',
      'releases/2/allium.config.yml': 'agent: { instructions: Two }',
    })
    symlinkSync('releases/1', join(root, 'current'))
    const { ask, after } = await watchedIn(root, {}, 'current/allium.config.yml')
    await after(() => {
      symlinkSync('releases/2', join(root, 'next'))
      renameSync(join(root, 'next'), join(root, 'current'))
    })
    expect(await ask()).toEqual(['Two', 'Hi'])
  })

  test('gives way to the model and the thinking of the caller, after a reload too', async () => {
    const model = scriptedModel(['Hello.'])
    const file = (model: string, thinking: string) => `agent: { model: ${model}, thinking: ${thinking} }`
    const { agent, change } = await watched(
      { 'allium.config.yml': file('scripted/model', 'low') },
      { model, settings: { reasoning: 'low' } },
    )
    await change('allium.config.yml', file('other/model', 'high'))
    expect((await agent.run('Hi')).text).toBe('Hello.')
    expect(model.requests[0]?.settings.reasoning).toBe('low')
  })

  test('warns of what takes effect with a new agent alone', async () => {
    const { change, warnings } = await watched({ 'allium.config.yml': 'agent: {}' })
    await change('allium.config.yml', 'agent: { maxIterations: 3 }')
    expect(warnings[0]).toContain('has changed in maxIterations. Create a new agent')
    await change('allium.config.yml', '{ agent: { name: other }, toolTimeout: 5 }')
    expect(warnings[1]).toContain('has changed in name, toolTimeout (of tools). Create')
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
