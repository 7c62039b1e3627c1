import { Agent, type AnyMiddleware, type Settings } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { cache, route, type SettingsOptions, settings } from '../src/index.ts'

/** The settings that each call of a run was sent with. */
async function sent(options: SettingsOptions, own: Settings = {}, run: Settings = {}, steps = 1): Promise<Settings[]> {
  const looks = Array.from({ length: steps - 1 }, () => ({ toolCalls: [{ name: 'look' }] }))
  const model = scriptedModel([...looks, 'done'])
  const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'seen' }
  await new Agent({ model, tools: [look], settings: own }).use(settings(options)).run('hi', { settings: run })
  return model.requests.map((request) => request.settings)
}

describe('model.settings', () => {
  it('fills what neither the agent nor the run sets', async () => {
    const defaults = { temperature: 0.1, topP: 0.2, seed: 3 }
    expect(await sent({ defaults }, { temperature: 0.7 }, { topP: 0.8 })).toEqual([
      { temperature: 0.7, topP: 0.8, seed: 3 },
    ])
  })

  it('wins over the agent and the run with its overrides', async () => {
    const overrides = { temperature: 0, maxOutputTokens: 100 }
    expect(await sent({ overrides }, { temperature: 0.7, seed: 1 }, { maxOutputTokens: 9_000 })).toEqual([
      { temperature: 0, maxOutputTokens: 100, seed: 1 },
    ])
  })

  it('takes undefined as not set, on either side', async () => {
    const defaults = { temperature: 0.1 }
    const overrides = { seed: undefined } as unknown as Settings
    const run = { temperature: undefined, seed: 7 } as unknown as Settings
    expect(await sent({ defaults, overrides }, {}, run)).toEqual([{ temperature: 0.1, seed: 7 }])
  })

  it('merges provider options by provider and option', async () => {
    const defaults = { providerOptions: { openai: { store: false, user: 'a' }, google: { x: 1 } } }
    const [first] = await sent({ defaults }, {}, { providerOptions: { openai: { user: 'b' }, anthropic: { y: 2 } } })
    expect(first?.providerOptions).toEqual({
      openai: { store: false, user: 'b' },
      google: { x: 1 },
      anthropic: { y: 2 },
    })
  })

  it('merges headers by name, in any case', async () => {
    const [first] = await sent(
      { overrides: { headers: { 'X-Team': 'b' } } },
      { headers: { 'x-team': 'a', 'x-app': 'c' } },
    )
    expect(first?.headers).toEqual({ 'X-Team': 'b', 'x-app': 'c' })
  })

  it('asks a function for each call, which may wait', async () => {
    const overrides: SettingsOptions['overrides'] = async ({ callIndex }) =>
      callIndex === 0 ? { reasoning: 'high' } : undefined
    expect(await sent({ overrides }, { seed: 1 }, {}, 2)).toEqual([{ reasoning: 'high', seed: 1 }, { seed: 1 }])
  })

  it('tells a function whose call it is', async () => {
    const model = scriptedModel(['a', 'b'])
    const overrides: SettingsOptions['overrides'] = ({ principal }) => ({
      headers: { 'x-tenant': (principal as { tenantId: string }).tenantId },
    })
    const agent = new Agent({ model }).use(settings({ overrides }))
    for (const tenantId of ['acme', 'zeta']) await agent.run('hi', { session: { principal: { tenantId } } })
    expect(model.requests.map(({ settings }) => settings.headers)).toEqual([
      { 'x-tenant': 'acme' },
      { 'x-tenant': 'zeta' },
    ])
  })

  it('leaves its own objects as they are when a layer inside changes the settings of a call', async () => {
    const defaults: Settings = { providerOptions: { openai: { store: false } } }
    const changes: AnyMiddleware = {
      name: 'changes',
      model(ctx, next) {
        ctx.settings.temperature = 2
        return next()
      },
    }
    await new Agent({ model: scriptedModel(['ok']) }).use(settings({ defaults })).use(changes).run('hi')
    expect(defaults).toEqual({ providerOptions: { openai: { store: false } } })
  })

  it('fails the run where its function does', async () => {
    const error = new Error('no settings')
    const overrides = () => {
      throw error
    }
    const agent = new Agent({ model: scriptedModel([]) }).use(settings({ overrides }))
    await expect(agent.run('hi')).rejects.toBe(error)
  })

  it('asks to stand outside caches, which know calls by their settings, and inside routes', () => {
    const layer = settings({ defaults: {} })
    const check = (layers: AnyMiddleware[]) =>
      new Agent({ model: scriptedModel([]), orderCheck: 'off' }).use(layers).check()
    expect(check([cache(), layer])).toMatchObject([{ severity: 'error', layers: ['model:settings', 'model:cache'] }])
    expect(check([layer, route({ to: () => 'b/1' })])).toMatchObject([
      { severity: 'error', layers: ['model:route', 'model:settings'] },
    ])
  })

  it('refuses to be of no use', () => {
    expect(() => settings({})).toThrowError(expect.objectContaining({ code: 'layer.config' }))
    expect(() => settings({ defaults: 'hot' as never })).toThrowError('"model:settings" changes nothing')
  })
})
