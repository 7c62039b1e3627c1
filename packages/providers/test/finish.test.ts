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
    expect(finishOf(chunks)).toMatchObject({ type: 'finish', reason: 'stop', usage })
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
    ['v3 of an interaction that was on its way', { unified: 'other', raw: 'in_progress' }, 'model.truncated'],
    ['v4 that says interrupted', { unified: 'interrupted', raw: undefined }, 'model.truncated'],
    ['an error as the reason', { unified: 'error', raw: 'MALFORMED_FUNCTION_CALL' }, 'model.failed'],
  ])('fails on %s', async (_, finishReason, code) => {
    const model = fromAiSdk(written('v3', [{ ...finishV3, finishReason }]))
    expect(await failureOf(model)).toMatchObject({ code })
  })

  it("tells the provider's own word for the reason, its id, its metadata and its warnings", async () => {
    const parts = [
      {
        type: 'stream-start',
        warnings: [
          { type: 'unsupported', feature: 'temperature', details: 'not for this model' },
          { type: 'unsupported-setting', setting: 'seed' },
          { type: 'unsupported-tool', tool: { name: 'search' } },
          { type: 'deprecated', setting: 'x', message: 'use y' },
        ],
      },
      { type: 'response-metadata', id: 'r-1', modelId: 'm-1' },
      { ...finishV3, providerMetadata: { p: { cost: 3 } } },
    ]
    expect(finishOf(await collect(fromAiSdk(written('v3', parts))))).toMatchObject({
      rawReason: 'end_turn',
      responseId: 'r-1',
      providerMetadata: { p: { cost: 3 } },
      warnings: [
        { type: 'unsupported', feature: 'temperature', message: 'not for this model' },
        { type: 'unsupported', feature: 'seed' },
        { type: 'unsupported', feature: 'search' },
        { type: 'deprecated', feature: 'x', message: 'use y' },
      ],
    })
  })

  it('of an answer that Anthropic paused says that it goes on', async () => {
    const finishReason = { unified: 'stop', raw: 'pause_turn' }
    const chunks = await collect(fromAiSdk(written('v4', [{ ...finishV3, finishReason }])))
    expect(finishOf(chunks)).toMatchObject({ reason: 'stop', rawReason: 'pause_turn', paused: true })
  })

  it('fails when it never came', async () => {
    expect(await failureOf(fromAiSdk(written('v3', [])))).toMatchObject({ code: 'model.truncated' })
  })
})
