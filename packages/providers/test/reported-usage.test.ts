import { createAnthropic } from '@ai-sdk/anthropic'
import { createAnthropic as createAnthropicV2 } from '@ai-sdk/anthropic-v2'
import { createAnthropic as createAnthropicV4 } from '@ai-sdk/anthropic-v4'
import { createResolver, fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { collect, finishOf } from './calls.ts'
import { anthropicEvents } from './wire-events.ts'
import { sse, wireServer } from './wire-server.ts'
import { apiKey, event, wires } from './wires.ts'
import { finishV3, written } from './written-model.ts'

describe('what a provider reports beside its counts', () => {
  it.each<[string, object, object, number]>([
    ['openrouter', {}, { openrouter: { usage: { cost: 0.002 } } }, 0.002],
    ['openrouter', {}, { openrouter: { usage: { cost: 0 } } }, 0],
    [
      'openrouter',
      { cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } },
      { openrouter: { usage: { cost: 0.001 } } },
      0.021,
    ],
    [
      'openrouter',
      { cost: 0.02, is_byok: false, cost_details: { upstream_inference_cost: 0.02 } },
      { openrouter: { usage: { cost: 0.02 } } },
      0.02,
    ],
    ['llmgateway', {}, { llmgateway: { usage: { cost: 0.003 } } }, 0.003],
    ['perplexity', {}, { perplexity: { cost: { totalCost: 0.004, requestCost: 0.001 } } }, 0.004],
    ['xai.responses', {}, { xai: { costInUsdTicks: 37_756_000 } }, 0.0037756],
  ])('is the cost of a call in USD: of %s %j %j', async (provider, raw, providerMetadata, cost) => {
    const finish = { ...finishV3, usage: { ...finishV3.usage, raw }, providerMetadata }
    const { usage } = finishOf(await collect(fromAiSdk(written('v4', [finish], { provider }))))
    expect(usage.reportedCost).toBeCloseTo(cost, 12)
  })

  it.each([
    ['perplexity', { perplexity: { cost: null } }],
    ['perplexity', { perplexity: { cost: { totalCost: null } } }],
    ['llmgateway', { llmgateway: { usage: {} } }],
    ['comp.chat', undefined],
  ])('is no cost without a figure, or from a server whose currency is unknown: %s %j', async (provider, metadata) => {
    const finish = { ...finishV3, usage: { ...finishV3.usage, raw: { cost: 5 } }, providerMetadata: metadata }
    const { usage } = finishOf(await collect(fromAiSdk(written('v4', [finish], { provider }))))
    expect(usage).not.toHaveProperty('reportedCost')
  })

  it('is unknown, and not zero, for a figure of null', async () => {
    const raw = { cost: null, is_byok: true, cost_details: { upstream_inference_cost: null } }
    const finish = { ...finishV3, usage: { ...finishV3.usage, raw } }
    const { usage } = finishOf(await collect(fromAiSdk(written('v4', [finish], { provider: 'openrouter' }))))
    expect(usage).not.toHaveProperty('reportedCost')
  })

  it('is the cost of a model of OpenRouter that is a string', async () => {
    const usage = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27, cost: 0.0123 }
    const events = [...wires[1]!.events.slice(0, -2), event({ choices: [], usage }), 'data: [DONE]\n\n']
    const { url } = await wireServer(sse(events.join('')))
    const env = { OPENROUTER_API_KEY: apiKey, OPENROUTER_BASE_URL: `${url}/v1` }
    const model = await createResolver({ env })('openrouter/openai/gpt-5', { principal: undefined })
    expect(finishOf(await collect(model)).usage.reportedCost).toBe(0.0123)
  })

  it.each([
    ['v2', createAnthropicV2],
    ['v3', createAnthropic],
    ['v4', createAnthropicV4],
  ])('is how much of the cache is written for an hour: by Anthropic, package of %s', async (_, create) => {
    const creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 900 }
    const counts = { cache_creation_input_tokens: 1_000, cache_creation: creation }
    const events = anthropicEvents.map((text) => {
      if (!text.includes('message_start')) return text
      const data = JSON.parse(text.slice(text.indexOf('{')))
      Object.assign(data.message.usage, counts)
      return event(data)
    })
    const { url } = await wireServer(sse(events.join('')))
    const model = fromAiSdk(create({ apiKey, baseURL: `${url}/v1` })('claude-sonnet-4-6') as never)
    expect(finishOf(await collect(model)).usage).toMatchObject({ cacheWriteTokens: 1_000, cacheWriteHourTokens: 900 })
  })

  it('is how much of the cache is written for an hour: by Bedrock', async () => {
    const cacheDetails = [
      { ttl: '5m', inputTokens: 1 },
      { ttl: '1h', inputTokens: 2 },
    ]
    const finish = { ...finishV3, providerMetadata: { bedrock: { usage: { cacheDetails } } } }
    const { usage } = finishOf(await collect(fromAiSdk(written('v4', [finish], { provider: 'amazon-bedrock' }))))
    expect(usage.cacheWriteHourTokens).toBe(2)
  })
})
