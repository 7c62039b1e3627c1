import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { collect, failureOf, finishOf } from './calls.ts'
import { finishV2, finishV3, written } from './written-model.ts'

describe('finish', () => {
  it.each([
    ['v2', finishV2, { inputTokens: 20, outputTokens: 7, cachedInputTokens: 8, reasoningTokens: 3 }],
    [
      'v3',
      finishV3,
      { inputTokens: 20, outputTokens: 7, cachedInputTokens: 8, cacheWriteTokens: 2, reasoningTokens: 3 },
    ],
    [
      'v4',
      finishV3,
      { inputTokens: 20, outputTokens: 7, cachedInputTokens: 8, cacheWriteTokens: 2, reasoningTokens: 3 },
    ],
  ])('of %s gives reason and usage in one shape', async (version, finish, usage) => {
    const chunks = await collect(fromAiSdk(written(version, [finish])))
    expect(finishOf(chunks)).toEqual({ type: 'finish', reason: 'stop', usage })
  })

  it("adds what went through the cache to the input of Anthropic's v2 package, which counts it apart", async () => {
    const finish = { ...finishV2, providerMetadata: { anthropic: { cacheCreationInputTokens: 100 } } }
    const { usage } = finishOf(await collect(fromAiSdk(written('v2', [finish]))))
    expect(usage).toMatchObject({ inputTokens: 128, cachedInputTokens: 8, cacheWriteTokens: 100 })
  })

  it('leaves out counts that are missing or no numbers', async () => {
    const usage = { inputTokens: { total: undefined }, outputTokens: { total: '7' } }
    const chunks = await collect(fromAiSdk(written('v3', [{ ...finishV3, usage }])))
    expect(finishOf(chunks).usage).toEqual({})
  })

  it.each(['length', 'tool-calls', 'content-filter', 'other'])('keeps the reason %s', async (unified) => {
    const chunks = await collect(fromAiSdk(written('v3', [{ ...finishV3, finishReason: { unified, raw: 'x' } }])))
    expect(finishOf(chunks).reason).toBe(unified)
  })

  it.each([
    ['v2 without a reason', 'unknown', 'model.truncated'],
    ['v3 without a raw reason', { unified: 'other', raw: undefined }, 'model.truncated'],
    ['v4 that says interrupted', { unified: 'interrupted', raw: undefined }, 'model.truncated'],
    ['an error as the reason', { unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' }, 'model.failed'],
  ])('fails on %s', async (_, finishReason, code) => {
    const model = fromAiSdk(written('v3', [{ ...finishV3, finishReason }]))
    expect(await failureOf(model)).toMatchObject({ code })
  })

  it('fails when it never came', async () => {
    expect(await failureOf(fromAiSdk(written('v3', [])))).toMatchObject({ code: 'model.truncated' })
  })
})
