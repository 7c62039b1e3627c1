import type { Usage } from '@allium/core'
import { calcPrice, type ModelInfo, type Provider, waitForUpdate } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { createPricing } from '../../src/prices.ts'

/** The names that provider packages give to the providers of the list. Others have the name of the list. */
const packageNames: Record<string, string[]> = {
  aws: ['amazon-bedrock', 'bedrock'],
  cloudflare: ['workersai'],
  google: ['google', 'vertex', 'googleVertex', 'google-vertex'],
  moonshotai: ['moonshotai'],
  together: ['togetherai'],
  'x-ai': ['xai'],
  zhipuai: ['zhipu'],
}
const router = /^huggingface_/
const million: Usage = { inputTokens: 1e5, outputTokens: 1e5, calls: 1 }

/** The name of a model as its package has it. The list names some models without the beginning or the end of their ids. */
function idsOf(model: ModelInfo): string[] {
  const matched = JSON.stringify(model.match).matchAll(/"(?:equals|starts_with)":"([^"]+)"/g)
  return [...new Set([model.id, ...[...matched].map(([, id]) => id as string)])]
}

const isAllowed = (id: string) => !id.includes(' ')

describe('the public list of prices', async () => {
  const list = (await waitForUpdate()) as Provider[]

  it.each(list.map((provider) => [provider.id, provider] as const))(
    'has one price for each model of %s, under the names of its packages',
    async (id, { models }) => {
      const costOf = createPricing()
      for (const modelId of models.flatMap(idsOf).filter(isAllowed)) {
        const price = calcPrice({ input_tokens: 1e5, output_tokens: 1e5 }, modelId, { providerId: id })
        const names = router.test(id) ? [id] : (packageNames[id] ?? [id])
        const paths = id === 'google' ? [`google/models/${modelId}`, `vertex/publishers/google/models/${modelId}`] : []
        const routed = router.test(id) ? [`huggingface/${modelId}:${id.replace(router, '')}`] : []
        for (const ref of [...names.map((name) => `${name}/${modelId}`), ...paths, ...routed])
          expect(await costOf(ref, million), ref).toEqual(expectedCost(ref, price))
      }
    },
  )
})

type Price = ReturnType<typeof calcPrice>

function expectedCost(ref: string, price: Price): unknown {
  if (ref.endsWith(':free')) return 0
  if (price === null) return undefined
  const { input_mtok, output_mtok, requests_kcount } = price.model_price
  if (input_mtok === undefined && output_mtok === undefined && requests_kcount === undefined) return undefined
  return expect.closeTo(price.total_price, 9)
}

describe('a price', () => {
  it('is zero for a model that is free by its name, at OpenRouter also if the list has it not yet', async () => {
    const costOf = createPricing()
    for (const model of ['openrouter/deepseek/deepseek-r1:free', 'openrouter/new/model:free', 'azure/mai-ds-r1:free'])
      expect(await costOf(model, million), model).toBe(0)
  })

  it('is unknown, neither zero nor that of another model, for a name that only looks free or known', async () => {
    const costOf = createPricing()
    for (const model of [
      'acme/gpt-5:free',
      'openrouter/free',
      'togetherai/none',
      'workersai/@cf/none',
      'huggingface/a/b:c',
    ])
      expect(await costOf(model, million), model).toBeUndefined()
  })

  it('is what the provider reported, unless a price is given', async () => {
    const reported = { ...million, reportedCost: 0.5 }
    expect(await createPricing()('openai/gpt-5', reported)).toBe(0.5)
    expect(await createPricing()('nobody/knows', reported)).toBe(0.5)
    expect(await createPricing({ 'openai/*': { input: 10, output: 0 } })('openai/gpt-5', reported)).toBe(1)
  })

  it('of a cache that is written for an hour is twice the input, and that of the list where it has one', async () => {
    const hour: Usage = {
      inputTokens: 1e5,
      outputTokens: 0,
      cacheWriteTokens: 1e5,
      cacheWriteHourTokens: 1e5,
      calls: 1,
    }
    expect(await createPricing()('anthropic/claude-sonnet-4-6', hour)).toBeCloseTo(0.6, 9)
    expect(await createPricing()('amazon-bedrock/us.anthropic.claude-sonnet-4-6-v1:0', hour)).toBeCloseTo(0.66, 9)
    expect(await createPricing({ 'my/model': { input: 1, output: 1 } })('my/model', hour)).toBeCloseTo(0.2, 9)
    const given = { input: 1, output: 1, cacheWriteHour: 3 }
    expect(await createPricing({ 'my/model': given })('my/model', hour)).toBeCloseTo(0.3, 9)
    const half = { ...hour, cacheWriteHourTokens: 5e4 }
    expect(await createPricing()('anthropic/claude-sonnet-4-6', half)).toBeCloseTo(0.3 + 0.1875, 9)
  })
})
