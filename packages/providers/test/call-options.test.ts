import { describe, expect, it } from 'vitest'
import { addTool } from './calls.ts'
import { finishV3, optionsFor, written } from './written-model.ts'

describe('options', () => {
  it('carry settings, tools, the choice of tool and the format, and leave out what is not set', async () => {
    const settings = {
      temperature: 0,
      topP: 1,
      maxOutputTokens: 9,
      stop: ['x'],
      seed: 3,
      headers: { h: '1' },
      providerOptions: { p: { a: 1 } },
    }
    const { stop, ...same } = settings
    const format = { type: 'json', schema: { type: 'object' }, name: 'out' } as const
    const options: object = await optionsFor({
      settings,
      tools: [addTool],
      toolChoice: { name: 'add' },
      responseFormat: format,
    })
    expect(options).toMatchObject({
      ...same,
      stopSequences: stop,
      responseFormat: format,
      toolChoice: { type: 'tool', toolName: 'add' },
    })
    expect(options).toMatchObject({
      tools: [{ type: 'function', name: 'add', description: 'Adds', inputSchema: addTool.jsonSchema }],
    })
    expect(Object.keys(await optionsFor({}))).toEqual(['prompt', 'abortSignal', 'includeRawChunks'])
  })

  it.each([
    ['anthropic.messages', 'claude-sonnet-4-5', { anthropic: { thinking: { type: 'enabled', budgetTokens: 2048 } } }],
    [
      'anthropic.messages',
      'claude-sonnet-4-20250514',
      { anthropic: { thinking: { type: 'enabled', budgetTokens: 2048 } } },
    ],
    [
      'anthropic.messages',
      'claude-opus-4-6',
      { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort: 'low' } },
    ],
    ['vertex.anthropic.messages', 'claude-3-5-haiku', undefined],
    ['google.generative-ai', 'gemini-3-pro-preview', { google: { thinkingConfig: { thinkingLevel: 'low' } } }],
    ['google.generative-ai', 'gemini-2.5-pro', { google: { thinkingConfig: { thinkingBudget: 2048 } } }],
    ['google.generative-ai', 'gemini-2.0-flash', undefined],
    ['openai.responses', 'gpt-5', { openai: { reasoningEffort: 'low' } }],
  ])('reasoning for %s %s', async (provider, modelId, expected) => {
    const options = await optionsFor(
      { settings: { reasoning: 'low' } },
      written('v3', [finishV3], { provider, modelId }),
    )
    expect(options.providerOptions).toEqual(expected)
  })

  it("the caller's own provider options win over the effort", async () => {
    const settings = { reasoning: 'low', providerOptions: { acme: { reasoningEffort: 'none' } } } as const
    expect((await optionsFor({ settings })).providerOptions).toEqual(settings.providerOptions)
  })
})
