import { hermesToolMiddleware } from '@ai-sdk-tool/parser'
import type { AiSdkMiddleware } from '@allium/providers/middleware'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byAllium, byStreamText, libraries, model, text, type Version } from './middleware-models.ts'
import { finishV3, sent } from './written-model.ts'

const call = [
  { type: 'tool-input-start', id: 'c', toolName: 'add' },
  { type: 'tool-input-delta', id: 'c', delta: '{"a":' },
  { type: 'tool-input-delta', id: 'c', delta: '1}' },
  { type: 'tool-input-end', id: 'c' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{"a":1}' },
]
const thinking = text('<thi', 'nk>Hm', 'm</think>Hel', 'lo <', 'b>')

describe.each([6, 7] as const)('a middleware of ai %i', (version) => {
  const ai = libraries[version]
  /** The same model behind the same middleware, in both. */
  async function both(parts: object[], middleware: AiSdkMiddleware) {
    const [theirs, ours] = [model(version, parts), model(version, parts)]
    const heard = await byStreamText(version, theirs, middleware)
    expect(await byAllium(ours, middleware)).toEqual(heard)
    return { heard, theirs: sent(theirs), ours: sent(ours) }
  }

  test('extractReasoning takes the thoughts out of the text', async () => {
    const { heard } = await both(thinking, ai.extractReasoningMiddleware({ tagName: 'think' }))
    expect(heard).toMatchObject({ text: 'Hello <b>', reasoning: 'Hmm' })
  })

  test('extractReasoning does so however the text is cut', async () => {
    const whole = '<think>one</think>two<think></think>three<thi <think>four'
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: whole.length - 1 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (at, startWithReasoning) => {
        const places = [0, ...at.sort((a, b) => a - b), whole.length]
        const deltas = places.slice(1).map((to, i) => whole.slice(places[i], to))
        await both(text(...deltas), ai.extractReasoningMiddleware({ tagName: 'think', startWithReasoning }))
      }),
      { numRuns: 40, seed: 7 },
    )
  })

  test('defaultSettings fills what is not set', async () => {
    const settings = { temperature: 0.3, maxOutputTokens: 9, providerOptions: { acme: { deep: { a: 1 } } } }
    const { theirs, ours } = await both(text('Hi'), ai.defaultSettingsMiddleware({ settings }))
    expect(ours).toMatchObject(settings)
    expect(theirs).toMatchObject(settings)
  })

  test('simulateStreaming drains the answer, and streams it then', async () => {
    const parts = [...text('He', 'llo').slice(0, -1), ...call, finishV3]
    const { heard } = await both(parts, ai.simulateStreamingMiddleware())
    expect(heard).toEqual({ text: 'Hello', reasoning: '', calls: [{ name: 'add', args: { a: 1 } }] })
  })

  test('addToolInputExamples tells a tool in its description', async () => {
    const examples: AiSdkMiddleware = {
      specificationVersion: version === 6 ? 'v3' : 'v4',
      transformParams: async ({ params }: { params: { tools: object[] } }) => ({
        ...params,
        tools: params.tools.map((tool) => ({ ...tool, inputExamples: [{ input: { a: 5 } }] })),
      }),
    }
    const { transformParams } = ai.addToolInputExamplesMiddleware()
    const chained: AiSdkMiddleware = {
      ...examples,
      transformParams: async (options: never) => {
        const { params } = { params: await examples.transformParams?.(options) }
        return (await transformParams?.({ ...(options as object), params } as never)) as object
      },
    }
    const { theirs, ours } = await both(text('Hi'), chained)
    const described = (from: { tools?: { description: string }[] }) => from.tools?.[0]?.description
    expect(described(ours)).toContain('{"a":5}')
    expect(described(ours)).toBe(described(theirs))
  })

  test('extractJson unwraps the answer', async () => {
    const { heard } = await both(text('```js', 'on\n{"a"', ':1}\n`', '``'), ai.extractJsonMiddleware())
    expect(heard.text).toBe('{"a":1}')
  })

  test('one by others makes calls of a text', async () => {
    const said = ['<tool', '_call>{"name": "add", ', '"arguments": {"a": 1}}</tool_c', 'all>']
    const { heard } = await both(text(...said), hermesToolMiddleware as unknown as AiSdkMiddleware)
    expect(heard.calls).toEqual([{ name: 'add', args: { a: 1 } }])
  })

  test('several nest as wrapLanguageModel nests them', async () => {
    const [think, simulate] = [
      ai.extractReasoningMiddleware({ tagName: 'think' }),
      ai.simulateStreamingMiddleware(),
    ] as AiSdkMiddleware[]
    const wrapped = ai.wrapLanguageModel({ model: model(version, thinking) as never, middleware: simulate as never })
    const heard = await byStreamText(version, wrapped as never, think as AiSdkMiddleware)
    expect(await byAllium(model(version, thinking), think as AiSdkMiddleware, simulate as AiSdkMiddleware)).toEqual(
      heard,
    )
  })
})

export type { Version }
