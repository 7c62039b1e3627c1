import { Chat as Chat6 } from '@ai-sdk/react'
import { Agent, defineTool, delegate, type Model, type Tool, type ToolExecution } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import * as ai6 from 'ai'
import { Chat as Chat7 } from 'ai-react7'
import * as ai7 from 'ai7'
import { describe, expect, test } from 'vitest'
import { agentOf, allOf, ask, gated, kinds, listen, silent } from './kit.ts'

const refunds: unknown[] = []
const refund = defineTool({
  name: 'refund',
  description: 'Gives money back.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'number' } } },
  requireApproval: true,
  execute: (args) => {
    refunds.push(args)
    return 'Refunded.'
  },
})
const clock = defineTool({
  name: 'clock',
  description: 'Tells the time.',
  jsonSchema: { type: 'object' },
  execute: () => 'Noon.',
})
const options = { tools: [refund, clock], approvals: { secret: 'a secret of the test' } }
const refunding = () =>
  agentOf([{ text: 'I ask.', toolCalls: [{ name: 'refund', args: { cents: 5 } }] }, 'Done.'], options)

/** What a reload shows of a part: it is the same but for what the stream alone tells. */
const plain = ({ type, state, toolCallId, output }: Record<string, unknown>) =>
  Object.fromEntries(Object.entries({ type, state, toolCallId, output }).filter(([, value]) => value !== undefined))

describe.each([6, 7] as const)('a page of the AI SDK %i', (version) => {
  const {
    DefaultChatTransport,
    lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen,
    lastAssistantMessageIsCompleteWithToolCalls,
  } = (version === 6 ? ai6 : ai7) as typeof ai6
  const Chat = (version === 6 ? Chat6 : Chat7) as typeof Chat6

  async function page(agent: Agent, on = listen) {
    const { url } = await on(agent, { uiStream: version })
    return { url, chat: chatAt(url) }
  }
  type More = Partial<ConstructorParameters<typeof Chat6>[0]> & { body?: object }
  function chatAt(url: string, id = 'chat-1', messages: ai6.UIMessage[] = [], { body, ...more }: More = {}) {
    const headers = { authorization: 'acme/ann' }
    const transport = new DefaultChatTransport({ api: `${url}/chat`, headers, ...(body !== undefined && { body }) })
    return new Chat({ id, messages, transport: transport as never, sendAutomaticallyWhen, ...more })
  }
  const parts = (chat: { messages: ai6.UIMessage[] }, at = -1) =>
    chat.messages
      .at(at)
      ?.parts.map((part) => ('text' in part ? part.text : 'state' in part ? `${part.type}: ${part.state}` : part.type))
  const ready = (chat: { status: string }) => expect.poll(() => chat.status).toBe('ready')

  test('shows text as it comes', async () => {
    const { chat } = await page(agentOf(['Hello Ann.']))
    await chat.sendMessage({ text: 'Hi' })
    expect([chat.status, parts(chat)]).toEqual(['ready', ['step-start', 'Hello Ann.']])
  })

  test('a tool of the page is handed back to it, and its output goes on with the answer', async () => {
    const locating = { toolCalls: [{ name: 'locate', args: { exact: true } }] }
    const { url } = await listen(agentOf([locating, 'In Oslo.', 'Bye.'], options), { uiStream: version })
    const given: unknown[] = []
    const chat = chatAt(url, 'chat-1', [], {
      onToolCall: ({ toolCall }) => {
        given.push(toolCall.input)
        chat.addToolOutput({ tool: 'locate', toolCallId: toolCall.toolCallId, output: { city: 'Oslo' } })
      },
      body: { clientTools: [{ name: 'locate', description: 'Where', jsonSchema: { type: 'object' } }] },
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    })
    await chat.sendMessage({ text: 'Where am I?' })
    await expect.poll(() => parts(chat)?.at(-1)).toBe('In Oslo.')
    expect([given, parts(chat)]).toEqual([
      [{ exact: true }],
      ['step-start', 'tool-locate: output-available', 'step-start', 'In Oslo.'],
    ])
    await ready(chat)
    await chat.sendMessage({ text: 'Thanks.' })
    expect(parts(chat)?.at(-1)).toBe('Bye.')
  })

  test('a call inside a sub-agent is decided in a card of its own, and both cards get their output', async () => {
    refunds.length = 0
    const inner = agentOf([{ toolCalls: [{ name: 'refund', args: { cents: 5 } }] }, 'Refunded it.'], {
      ...options,
      name: 'inner',
    })
    const asks: Tool = {
      name: 'ask',
      description: 'Asks another agent.',
      jsonSchema: { type: 'object' },
      execute: (_: unknown, ctx: ToolExecution) => delegate(ctx, inner, 'refund').then((result) => result?.text),
    }
    const outer = agentOf([{ toolCalls: [{ name: 'ask', args: {} }] }, 'Done.'], { ...options, tools: [asks] })
    const { url, chat } = await page(outer)
    await chat.sendMessage({ text: 'Refund' })
    const card = chat.messages.at(-1)?.parts.at(-1) as { approval: { id: string } }
    const { messages } = (await (await ask(`${url}/sessions/chat-1/messages`)).json()) as { messages: ai6.UIMessage[] }
    expect(messages.at(-1)?.parts).toMatchObject(JSON.parse(JSON.stringify(chat.messages.at(-1)?.parts)).map(plain))
    await chat.addToolApprovalResponse({ id: card.approval.id, approved: true })
    await expect.poll(() => parts(chat)?.at(-1)).toBe('Done.')
    const cards = ['tool-ask: output-available', 'tool-refund: output-available']
    expect(parts(chat)).toEqual(['step-start', ...cards, 'step-start', 'Done.'])
    expect(chat.messages.at(-1)?.parts.slice(1, 3)).toMatchObject([{ output: 'Refunded it.' }, { output: 'Refunded.' }])
    expect(refunds).toEqual([{ cents: 5 }])
  })

  test('what is said to a running answer is heard, and the page is told where', async () => {
    const gate = gated()
    const { url, chat } = await page(new Agent({ version: '1', model: gate.model }))
    const sent = chat.sendMessage({ text: 'Hi' })
    gate.text('One. ')
    await expect.poll(() => parts(chat)?.at(-1)).toBe('One. ')
    await ask(`${url}/chat/chat-1/steer`, { body: { message: 'In French.', id: 's1' } })
    gate.end()
    await sent
    expect(parts(chat)).toEqual(['step-start', 'One. ', 'data-steer', 'step-start', 'Next.'])
    expect(chat.messages.at(-1)?.parts[2]).toMatchObject({ id: 's1', data: { delivered: true } })
  })

  test('shows a tool that ran, its input and its output', async () => {
    const { chat } = await page(
      agentOf([{ toolCalls: [{ name: 'clock', args: { zone: 'utc' } }] }, 'It is noon.'], options),
    )
    await chat.sendMessage({ text: 'When?' })
    expect(parts(chat)).toEqual(['step-start', 'tool-clock: output-available', 'step-start', 'It is noon.'])
    expect(chat.messages.at(-1)?.parts[1]).toMatchObject({ input: { zone: 'utc' }, output: 'Noon.' })
  })

  test.each([
    [true, 'output-available', [{ cents: 5 }]],
    [false, 'output-denied', []],
  ])('approves and denies in the card that asks, and no card doubles: %s', async (approved, state, ran) => {
    refunds.length = 0
    const { chat } = await page(refunding())
    await chat.sendMessage({ text: 'Refund' })
    expect(parts(chat)).toEqual(['step-start', 'I ask.', 'tool-refund: approval-requested'])
    const card = chat.messages.at(-1)?.parts[2] as { approval: { id: string } }
    await chat.addToolApprovalResponse({ id: card.approval.id, approved })
    await expect
      .poll(() => parts(chat))
      .toEqual(['step-start', 'I ask.', `tool-refund: ${state}`, 'step-start', 'Done.'])
    await ready(chat)
    expect([chat.error, chat.messages.length, refunds]).toEqual([undefined, 2, ran])
  })

  test('goes on after a reload in the middle of an answer', async () => {
    const { model, text, end } = gated()
    const { url, chat } = await page(new Agent({ version: '1', model }))
    void chat.sendMessage({ text: 'Hi' })
    text('one ')
    await expect.poll(() => parts(chat)).toEqual(['step-start', 'one '])
    await chat.stop()
    const { messages } = (await (await ask(`${url}/sessions/chat-1/messages`)).json()) as { messages: ai6.UIMessage[] }
    expect(messages.map(({ role }) => role)).toEqual(['user'])
    const reloaded = chatAt(url, 'chat-1', messages)
    const resumed = reloaded.resumeStream()
    text('two')
    end()
    await resumed
    expect(parts(reloaded)).toEqual(['step-start', 'one two'])
    const late = (await (await ask(`${url}/sessions/chat-1/messages`)).json()) as { messages: ai6.UIMessage[] }
    const whole = chatAt(url, 'chat-1', late.messages)
    await whole.resumeStream()
    expect(whole.messages.map((_, at) => parts(whole, at))).toEqual([['Hi'], ['step-start', 'one two']])
    const none = chatAt(url, 'none')
    await none.resumeStream()
    expect([none.status, none.messages]).toEqual(['ready', []])
  })

  test.each(kinds)(
    'goes on after a reload behind a decision, also where the run has ended since, in runs %s',
    async (_, on) => {
      const { model, text, end } = gated()
      const asks = scriptedModel([{ text: 'I ask.', toolCalls: [{ name: 'refund', args: { cents: 5 } }] }])
      let calls = 0
      const both: Model = { id: 'both', stream: (request) => (calls++ === 0 ? asks : model).stream(request) }
      const { url, chat } = await page(new Agent({ version: '1', model: both, ...options }), on)
      const stored = async () =>
        (await (await ask(`${url}/sessions/chat-1/messages`)).json()) as { messages: ai6.UIMessage[] }
      await chat.sendMessage({ text: 'Refund' })
      const card = chat.messages.at(-1)?.parts[2] as { approval: { id: string } }
      void chat.addToolApprovalResponse({ id: card.approval.id, approved: true })
      text('It is ')
      await expect.poll(() => parts(chat)?.at(-1)).toBe('It is ')
      const { messages } = await stored()
      expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ state: 'input-available', input: { cents: 5 } })
      const reloaded = chatAt(url, 'chat-1', messages)
      const resumed = reloaded.resumeStream()
      await expect.poll(() => parts(reloaded)?.at(-1)).toBe('It is ')
      text('done.')
      end()
      await resumed
      const whole = ['step-start', 'I ask.', 'tool-refund: output-available', 'step-start', 'It is done.']
      for (const had of [messages, (await stored()).messages]) {
        const late = chatAt(url, 'chat-1', had)
        await late.resumeStream()
        expect([late, reloaded].map(({ messages: all }) => all.length)).toEqual([2, 2])
        expect([parts(late), parts(reloaded)]).toEqual([whole, whole])
      }
    },
  )

  test('a stop of the page disconnects; the route of the chat stops the run', async () => {
    const { model, text } = gated()
    const { url, chat } = await page(new Agent({ version: '1', model, logger: silent }))
    const sent = chat.sendMessage({ text: 'Hi' })
    text('one ')
    await expect.poll(() => parts(chat)).toEqual(['step-start', 'one '])
    expect((await ask(`${url}/chat/chat-1/stop`, { method: 'POST' })).status).toBe(202)
    await sent
    expect(parts(chat)).toEqual(['step-start', 'one '])
  })

  test('shows an error that a person understands', async () => {
    const { chat } = await page(
      agentOf([{ text: 'One', error: Object.assign(new Error('sk-123'), { statusCode: 500 }) }]),
    )
    await chat.sendMessage({ text: 'Hi' })
    expect([chat.status, chat.error?.message]).toEqual(['error', 'The model could not answer. Try again.'])
  })

  test('every chunk is one of its schema', async () => {
    const { uiMessageChunkSchema } = (version === 6 ? ai6 : ai7) as typeof ai6
    const chunks = [
      { type: 'reasoning-delta', delta: 'Hm.' },
      'Text.',
      { type: 'source', url: 'https://a.example/', title: 'A' },
      { type: 'source', title: 'B', mediaType: 'text/plain' },
      { type: 'file', data: new Uint8Array([1, 2]), mediaType: 'image/png' },
    ] as const
    const calls = [{ name: 'clock' }, { name: 'refund', args: '{bad' }, { name: 'none' }]
    const { url } = await listen(agentOf([{ chunks: [...chunks], toolCalls: calls }, 'Done.'], options), {
      uiStream: version,
    })
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
    const response = await ask(`${url}/chat`, { body: { id: 'a', messages } })
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const events = await allOf(response)
    expect(events.at(-1)?.data).toBe('[DONE]')
    const schema = uiMessageChunkSchema()
    for (const { data } of events.slice(0, -1))
      expect([data, await schema.validate?.(JSON.parse(data))]).toEqual([
        data,
        expect.objectContaining({ success: true }),
      ])
    const types = new Set(events.slice(0, -1).map(({ data }) => JSON.parse(data).type))
    for (const type of [
      'reasoning-start',
      'text-end',
      'source-url',
      'source-document',
      'file',
      'tool-output-error',
      'finish',
    ])
      expect(types).toContain(type)
  })
})
