import type { Usage } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { createPricing } from '../../src/prices.ts'

describe('prices', () => {
  const million: Usage = { inputTokens: 1e6, outputTokens: 1e6, calls: 1 }

  it('come from the public list for a model that it knows', async () => {
    expect(await createPricing()('anthropic/claude-sonnet-4-6', million)).toBe(18)
    expect(await createPricing()('openai/gpt-5', million)).toBe(11.25)
  })

  it('are the same at the second look', async () => {
    const costOf = createPricing()
    for (const model of ['google/gemini-2.5-pro', 'openrouter/openai/gpt-4o', 'gpt-4o'])
      expect(await costOf(model, million)).toBe(await costOf(model, million))
  })

  it('are not guessed for a model that it does not know', async () => {
    for (const model of ['nobody/knows', 'knows', 'acme/claude-sonnet-4-6', '', '/', '__proto__/x'])
      expect(await createPricing()(model, million)).toBeUndefined()
  })

  it('are nothing for a model of Ollama, unless they are given', async () => {
    expect(await createPricing()('ollama/llama3.2', million)).toBe(0)
    expect(await createPricing(() => undefined)('ollama/llama3.2', million)).toBe(0)
    expect(await createPricing({ 'ollama/*': { input: 1, output: 2 } })('ollama/llama3.2', million)).toBe(3)
  })

  it('may be given for a model, or for a whole provider', async () => {
    const costOf = createPricing({ 'my/big': { input: 1, output: 2 }, 'my/*': { input: 0, output: 1 } })
    expect(await costOf('my/big', million)).toBe(3)
    expect(await costOf('my/small', million)).toBe(1)
    expect(await costOf('openai/gpt-5', million)).toBe(11.25)
  })

  it('may be a function, asked before the list', async () => {
    const costOf = createPricing((model, usage) => (model === 'my/model' ? usage.outputTokens : undefined))
    expect(await costOf('my/model', million)).toBe(1e6)
    expect(await costOf('openai/gpt-5', million)).toBe(11.25)
  })

  it('tell cached input apart, which is part of the input', async () => {
    const costOf = createPricing({ 'my/model': { input: 10, output: 0, cachedInput: 1, cacheWrite: 20 } })
    const usage = { inputTokens: 1e6, outputTokens: 0, cachedInputTokens: 5e5, cacheWriteTokens: 1e5, calls: 1 }
    expect(await costOf('my/model', usage)).toBe(4 + 0.5 + 2)
    expect(await costOf('openai/gpt-5', { ...million, outputTokens: 0, cachedInputTokens: 1e6 })).toBe(0.125)
  })

  it('take more cached input than there was input for all of it', async () => {
    const usage = { inputTokens: 1e6, outputTokens: 0, cachedInputTokens: 2e6, cacheWriteTokens: 3e6, calls: 1 }
    expect(await createPricing()('openai/gpt-5', usage)).toBe(0.125)
  })
})
