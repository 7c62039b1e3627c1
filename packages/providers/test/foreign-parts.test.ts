import { createAnthropic } from '@ai-sdk/anthropic-v4'
import { Agent, type Message, type Model, type Part } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { collect, finishOf } from './calls.ts'
import { anthropicEvents } from './wire-events.ts'
import { sse, wireServer } from './wire-server.ts'
import { apiKey } from './wires.ts'
import { finishV3, optionsFor, sent, type Written, written } from './written-model.ts'

const textParts = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'Fine.' },
  { type: 'text-end', id: '0' },
]
const of = (provider: string, parts: object[] = textParts) => written('v4', [...parts, finishV3], { provider })

/** The answers of one model as another one gets them, in the same session. */
async function handedOver(from: Written, to: Written): Promise<{ role: string; content: Part[] }[]> {
  const session = new Agent({ model: fromAiSdk(from) }).session()
  await session.run('Hi')
  await session.run('Again', { model: fromAiSdk(to) })
  const { prompt }: { prompt?: unknown } = sent(to)
  return (prompt as { role: string; content: Part[] }[]).filter(({ role }) => role === 'assistant')
}

const search = { toolCallId: 's1', toolName: 'search', providerExecuted: true }

describe('an answer of another provider', () => {
  it.each<[string, object[]]>([
    ['a custom part', [{ type: 'custom', kind: 'anthropic.fallback', providerMetadata: { anthropic: { from: 'a' } } }]],
    [
      'signed reasoning',
      [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r', providerMetadata: { anthropic: { signature: 's' } } },
      ],
    ],
    [
      'reasoning without metadata',
      [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r' },
      ],
    ],
    [
      'a tool that it ran',
      [
        { type: 'tool-call', input: '{}', ...search },
        { type: 'tool-result', result: [1], ...search },
      ],
    ],
    [
      'a file of its reasoning',
      [{ type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }],
    ],
  ])('is sent without %s, which goes back to its own', async (_, parts) => {
    const answer = () => of('anthropic.messages', [...parts, ...textParts])
    expect(await handedOver(answer(), of('mistral.chat'))).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Fine.' }] },
    ])
    const [own] = await handedOver(answer(), of('anthropic.messages'))
    expect(own?.content.length).toBeGreaterThan(1)
  })

  it('has no metadata of its texts and calls, and a note in place of a file', async () => {
    const providerMetadata = { google: { thoughtSignature: 's' } }
    const parts = [
      { type: 'text-start', id: '0', providerMetadata },
      { type: 'text-delta', id: '0', delta: 'Look:' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' }, providerMetadata },
    ]
    expect(await handedOver(of('google.generative-ai', parts), of('groq.chat'))).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Look:' },
          { type: 'text', text: '[image/png: made by another model]' },
        ],
      },
    ])
  })

  it('is readable in the middle of a turn, too, after a call of a tool', async () => {
    const step = [
      { type: 'custom', kind: 'anthropic.message_start', providerMetadata: { anthropic: { id: 'msg_1' } } },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'tool-call', toolCallId: 'toolu_1', toolName: 'now', input: '{}' },
    ]
    const calls = { ...finishV3, finishReason: { unified: 'tool-calls', raw: 'tool_use' } }
    const claude = written('v4', [...step, calls], { provider: 'anthropic.messages' })
    const mistral = of('mistral.chat')
    const now = { name: 'now', description: 'n', jsonSchema: { type: 'object' }, execute: () => 'noon' }
    const agent = new Agent({ model: fromAiSdk(claude), tools: [now] })
    agent.use('model', (ctx, next) => {
      if (ctx.stepIndex === 1) ctx.setModel(fromAiSdk(mistral))
      return next()
    })
    expect((await agent.run('Hi')).text).toBe('Fine.')
    const toolCallId = expect.stringMatching(/^[a-z0-9]{9}$/)
    expect(sent(mistral).prompt).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId }] },
    ])
  })

  it('keeps the mark of a cache that a layer set, for a gateway to Claude', async () => {
    const anthropic = { cacheControl: { type: 'ephemeral' }, signature: 's' }
    const content: Part[] = [{ type: 'text', text: 'a', providerMetadata: { anthropic } }]
    const { prompt }: { prompt?: unknown } = await optionsFor(
      { messages: [{ role: 'assistant', content }] },
      of('openrouter'),
    )
    const providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } }
    expect(prompt).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'a', providerOptions }] }])
  })

  it('is left out if nothing of it can be read', async () => {
    const custom = { type: 'custom', kind: 'anthropic.fallback' }
    expect(await handedOver(of('anthropic.messages', [custom]), of('xai.responses'))).toEqual([])
  })

  it('loses the result of a tool that it ran, also in a later message', async () => {
    const call: Part = { type: 'tool-call', callId: 's1', name: 'search', args: {}, providerExecuted: true }
    const messages: Message[] = [
      {
        role: 'assistant',
        content: [
          { ...call, providerMetadata: { anthropic: {} } },
          { type: 'text', text: 'a' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool-result', callId: 's1', name: 'search', content: '[1]' }] },
    ]
    const { prompt }: { prompt?: unknown } = await optionsFor({ messages }, of('openai.responses'))
    expect(prompt).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }])
  })
})

describe('a file that OpenAI stores', () => {
  const file: Part = { type: 'file', mediaType: 'application/pdf', data: 'file-abc123' }
  const messages: Message[] = [{ role: 'user', content: [file] }]

  it('goes to OpenAI by its id, and to no other provider, which gets a note with a warning', async () => {
    const own: { prompt?: unknown } = await optionsFor({ messages }, of('openai.responses'))
    expect(own.prompt).toMatchObject([{ content: [{ type: 'file', data: { type: 'data', data: 'file-abc123' } }] }])
    const chunks = await collect(fromAiSdk(of('anthropic.messages')), { messages })
    const warning = expect.stringContaining('stored by another provider as file-abc123')
    expect(finishOf(chunks).warnings).toMatchObject([{ message: warning }])
    const other: { prompt?: unknown } = await optionsFor({ messages }, of('anthropic.messages'))
    expect(other.prompt).toMatchObject([{ content: [{ type: 'text', text: warning }] }])
  })
})

describe('an answer of the same provider', () => {
  it.each([
    ['comp', 'anthropic', 'a package under a name of its own'],
    ['minimax.messages', 'anthropic', 'a package built on another'],
    ['amazon-bedrock', 'bedrock', 'a package with two names'],
    ['vertex.anthropic.messages', 'anthropic', 'a cloud'],
  ])('keeps its metadata: %s, which writes as %s, %s', async (provider, name) => {
    const parts = [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: { [name]: { signature: 's' } } },
    ]
    const [own] = await handedOver(of(provider, parts), of(provider))
    expect(own?.content).toMatchObject([{ type: 'reasoning', providerOptions: { [name]: { signature: 's' } } }])
    expect(await handedOver(of(provider, parts), of('groq.chat'))).toEqual([])
  })

  it('keeps reasoning of an unknown origin, such as that of a layer', async () => {
    const messages: Message[] = [{ role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }] }]
    const { prompt }: { prompt?: unknown } = await optionsFor({ messages }, of('groq.chat'))
    expect(prompt).toMatchObject([{ content: [{ type: 'reasoning' }] }])
  })

  it("has no part that is of no use in a history: Anthropic's start of an answer", async () => {
    const { url } = await wireServer(sse(anthropicEvents.join('')))
    const model: Model = fromAiSdk(createAnthropic({ apiKey, baseURL: `${url}/v1` })('claude-sonnet-4-6') as never)
    expect((await collect(model)).map(({ type }) => type)).not.toContain('custom')
    const stored: Part = { type: 'custom', kind: 'anthropic.message_start', providerMetadata: { anthropic: {} } }
    const messages: Message[] = [{ role: 'assistant', content: [stored] }]
    expect((await optionsFor({ messages }, of('anthropic.messages'))).prompt).toEqual([])
  })
})
