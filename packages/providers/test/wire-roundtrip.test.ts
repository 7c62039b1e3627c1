import type { Message, Part } from '@allium/core'
import { LLMock } from '@copilotkit/aimock'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addTool, collect, finishOf, textOf } from './calls.ts'
import { messageOf } from './message-of.ts'
import { wires } from './wires.ts'

describe.each(wires)('$name against a mock server of others', ({ name, model }) => {
  it('streams text and its usage', async () => {
    const mock = await started()
    mock.onMessage('hello', { content: 'Hi there!', usage: tokens(name) })
    const chunks = await collect(model(mock.url))
    expect(textOf(chunks)).toBe('Hi there!')
    expect(finishOf(chunks)).toMatchObject({ reason: 'stop', usage: { inputTokens: 12, outputTokens: 5 } })
  })

  it('streams a tool call, and brings its result in the next step', async () => {
    const mock = await started()
    mock.onToolResult('call_1', { content: 'The sum is 3' })
    mock.onMessage('hello', { toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }] })
    const first = messageOf(await collect(model(mock.url), { tools: [addTool] }))
    expect(first.content).toContainEqual(
      expect.objectContaining({ type: 'tool-call', callId: 'call_1', args: { a: 1 } }),
    )

    const result: Part = { type: 'tool-result', callId: 'call_1', name: 'add', content: '3' }
    const messages: Message[] = [{ role: 'user', content: 'hello' }, first, { role: 'tool', content: [result] }]
    expect(textOf(await collect(model(mock.url), { tools: [addTool], messages }))).toBe('The sum is 3')
  })

  it('sends system text, tools, the choice of tool, settings and headers', async () => {
    const mock = await started()
    mock.onMessage('hello', { content: 'ok' })
    await collect(model(mock.url), {
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'hello' },
      ],
      tools: [addTool],
      toolChoice: 'required',
      settings: { maxOutputTokens: 99, headers: { 'x-tenant': 'acme' } },
    })
    const { body, headers } = mock.getLastRequest()!
    expect(body).toMatchObject({
      messages: [{ role: expect.stringMatching(/system|developer/), content: 'Be brief' }, { role: 'user' }],
    })
    expect(body).toMatchObject({ tools: [{ function: { name: 'add', parameters: addTool.jsonSchema } }] })
    expect(headers['x-tenant']).toBe('acme')
  })

  it('sees a 429 with its retry-after, and then the answer', async () => {
    const mock = await started()
    mock.onMessage('hello', { content: 'Hi there!' })
    mock.nextRequestError(429, { message: 'slow down' })
    await expect(collect(model(mock.url))).rejects.toMatchObject({ status: 429, isRetryable: true })
    expect(textOf(await collect(model(mock.url)))).toBe('Hi there!')
  })
})

async function started(): Promise<LLMock> {
  const mock = await LLMock.create({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => mock.stop())
  return mock
}

/** The mock wants the names of each format. */
function tokens(name: string) {
  if (name === 'google') return { promptTokenCount: 12, candidatesTokenCount: 5 }
  return name === 'openai chat' ? { prompt_tokens: 12, completion_tokens: 5 } : { input_tokens: 12, output_tokens: 5 }
}
