import { createOpenAI } from '@ai-sdk/openai'
import type { Model } from '@allium/core'
import { createResolver, type ModelFactory } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { apiKey } from './wires.ts'
import { written } from './written-model.ts'

const nobody = { principal: undefined }
const mine: Model = { id: 'mine', stream: async function* () {} }

describe('the map of providers', () => {
  it('takes a provider, a model of either kind, and a function', async () => {
    const resolve = createResolver({
      providers: { fast: createOpenAI({ apiKey }), mine, sdk: written('v3', []), made: () => mine },
    })
    expect((await resolve('fast/gpt-5', nobody)).id).toBe('openai/gpt-5')
    expect(await resolve('mine/anything', nobody)).toBe(mine)
    expect((await resolve('sdk/anything', nobody)).id).toBe('acme/m-1')
    expect(await resolve('made/x', nobody)).toBe(mine)
  })

  it('asks a function each time, with the model and the principal', async () => {
    const asked: unknown[] = []
    const made: ModelFactory = (...args) => {
      asked.push(args)
      return mine
    }
    const resolve = createResolver({ providers: { mine: made } })
    for (const tenant of ['a', 'b', 'b']) await resolve('mine/x/y', { principal: { tenant } })
    expect(asked).toEqual(['a', 'b', 'b'].map((tenant) => ['x/y', { principal: { tenant } }]))
  })

  it('fails where a function gives no model', async () => {
    await expect(createResolver({ providers: { mine: () => ({}) as Model } })('mine/x', nobody)).rejects.toMatchObject({
      code: 'model.invalid',
    })
  })

  it('is not read past its own entries', async () => {
    const resolve = createResolver({ import: async () => ({}) })
    await expect(resolve('constructor/x', nobody)).rejects.toMatchObject({ code: 'provider.unsupported' })
  })
})
