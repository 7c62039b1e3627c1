import type { Usage } from '@allium/core'
import { calcPrice, type Provider, waitForUpdate } from '@pydantic/genai-prices'
import { describe, expect, it } from 'vitest'
import { costOfRates } from '../../src/prices/cost.ts'
import { publicList } from '../../src/prices/public-list.ts'

describe('the public list', () => {
  it.each<[string, Partial<Usage>]>([
    ['small', { inputTokens: 1_000, outputTokens: 100 }],
    ['cached', { inputTokens: 1_000, outputTokens: 100, cachedInputTokens: 600, cacheWriteTokens: 300 }],
    ['long', { inputTokens: 900_000, outputTokens: 5_000, cachedInputTokens: 300_000 }],
  ])('costs what the library computes, for every model of it and a %s call', async (_, counts) => {
    const usage: Usage = { inputTokens: 0, outputTokens: 0, calls: 1, ...counts }
    const list = publicList({ now: () => noon })
    for (const [providerId, modelId] of await everyModel()) {
      const rates = await list.rates(`${providerId}/${modelId}`)
      const expected = calcPrice(libraryUsage(usage), modelId, { providerId, timestamp: new Date(noon) })
      if (rates === undefined) expect(expected?.total_price ?? 0, modelId).toBe(0)
      else expect(costOfRates(rates, usage), modelId).toBeCloseTo(expected!.total_price, 9)
    }
  })

  it('does not know a price where neither tokens nor calls have one', async () => {
    expect(await publicList().rates('openai/whisper-1')).toBeUndefined()
  })

  it('asks the library once for a model, found or not', async () => {
    const asked: string[] = []
    const list = publicList(counting(asked))
    for (let time = 0; time < 3; time++) for (const model of ['openai/gpt-5', 'no/body']) await list.rates(model)
    expect(asked).toEqual(['gpt-5', 'body'])
  })

  it('asks again with the next minute where the price depends on the time', async () => {
    const asked: string[] = []
    let now = noon
    const list = publicList({ ...counting(asked), now: () => now })
    const day = await list.rates('deepseek/deepseek-chat')
    now += 59_999
    await list.rates('deepseek/deepseek-chat')
    expect(asked).toHaveLength(1)
    now = Date.UTC(2026, 0, 1, 20)
    const night = await list.rates('deepseek/deepseek-chat')
    expect(asked).toHaveLength(2)
    expect(night!.input).toBeLessThan(day!.input as number)
  })

  it('loads the library once', async () => {
    let loaded = 0
    const list = publicList({
      importLibrary: async () => {
        loaded++
        return { calcPrice }
      },
    })
    await Promise.all([list.load(), list.rates('openai/gpt-5'), list.rates('openai/gpt-5')])
    expect(loaded).toBe(1)
  })

  it('tells each look-up where the library cannot be loaded', async () => {
    const list = publicList({ importLibrary: () => Promise.reject(new Error('not bundled')) })
    await expect(list.load()).rejects.toThrow('not bundled')
    await expect(list.rates('openai/gpt-5')).rejects.toThrow('not bundled')
  })

  it('keeps no more than 500 models, as ids may come from tenants', async () => {
    const asked: string[] = []
    const list = publicList(counting(asked))
    for (let i = 0; i <= 500; i++) await list.rates(`no/body-${i}`)
    await list.rates('no/body-0')
    expect(asked).toHaveLength(502)
  })
})

const noon = Date.UTC(2026, 0, 1, 12)

async function everyModel(): Promise<[string, string][]> {
  const providers = (await waitForUpdate()) as Provider[]
  return providers.flatMap(({ id, models }) => models.map((model): [string, string] => [id, model.id]))
}

function libraryUsage({ inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteTokens = 0 }: Usage) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cachedInputTokens,
    cache_write_tokens: cacheWriteTokens,
  }
}

/** The library, which notes the models that it is asked for. */
function counting(asked: string[]) {
  const noted: typeof calcPrice = (usage, modelId, options) => {
    asked.push(modelId)
    return calcPrice(usage, modelId, options)
  }
  return { importLibrary: async () => ({ calcPrice: noted }) }
}
