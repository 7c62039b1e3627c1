import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock-v4'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createXai } from '@ai-sdk/xai'
import type { Message, ModelWarning, Part } from '@allium/core'
import { type AiSdkModel, fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { addTool, collect, failureOf, finishOf } from './calls.ts'
import { finishV3, sent, written } from './written-model.ts'

const bodies: string[] = []
const fetch = async (_: unknown, init?: RequestInit) => {
  bodies.push(String(init?.body))
  return new Response('{}', { status: 400 })
}
const options = { apiKey: 'key', fetch, baseURL: 'http://127.0.0.1:9/v1' }
const models: Record<string, AiSdkModel> = {
  'openai.responses': createOpenAI(options).responses('gpt-5'),
  'openai.chat': createOpenAI(options).chat('gpt-4.1'),
  anthropic: createAnthropic(options)('claude-sonnet-4-6'),
  'gemini 2.5': createGoogleGenerativeAI(options)('gemini-2.5-flash'),
  'gemini 3': createGoogleGenerativeAI(options)('gemini-3-pro'),
  bedrock: createAmazonBedrock({ ...options, region: 'us-east-1' })('anthropic.claude'),
  'openai-compatible': createOpenAICompatible({ ...options, name: 'other' })('m'),
  'xai.responses': createXai(options).responses('grok-4'),
}
const text = (value: string): Part => ({ type: 'text', text: value })
const file = (mediaType: string, data: string, filename?: string): Part =>
  ({ type: 'file', mediaType, data, ...(filename && { filename }) }) as Part
const image: Part = { type: 'image', mediaType: 'image/png', data: 'CQkJ' }
const history = (content: Part[], over: object = {}): Message[] => [
  { role: 'user', content: 'Go' },
  { role: 'assistant', content: [{ type: 'tool-call', callId: 'call_1', name: 'read', args: {} }] },
  { role: 'tool', content: [{ type: 'tool-result', callId: 'call_1', name: 'read', content, ...over }] },
]

/** The request that a package of a provider makes of it. */
async function requestOf(model: AiSdkModel, messages: Message[]): Promise<string> {
  bodies.length = 0
  await failureOf(fromAiSdk(model), { messages, tools: [{ ...addTool, name: 'read' }] })
  expect(bodies).toHaveLength(1)
  return String(bodies[0])
}

/** What a provider is sent in place of a history, and what the run is warned of. */
async function sentTo(provider: string, messages: Message[]): Promise<{ prompt: string; warnings: ModelWarning[] }> {
  const model = written('v3', [finishV3], { provider })
  const { warnings = [] } = finishOf(await collect(fromAiSdk(model), { messages }))
  return { prompt: JSON.stringify(sent(model).prompt), warnings }
}

describe.each(Object.entries(models))('a tool result for %s', (_, model) => {
  it('keeps its texts apart', async () => {
    const request = await requestOf(model, history([text('invoice 1'), text('2 items')]))
    expect(request).toMatch(/invoice 1(?:\\n2 items|".*"2 items")/)
  })

  it('keeps its texts apart, also as an error', async () => {
    const request = await requestOf(model, history([text('invoice 1'), text('2 items')], { isError: true }))
    expect(request).toContain('invoice 1\\n2 items')
  })

  it('has its image as an image, and none of it as text', async () => {
    const request = await requestOf(model, history([text('a page'), image]))
    expect(request.match(/CQkJ/g)).toHaveLength(1)
    expect(request).toMatch(/"(?:bytes|data)":"CQkJ"|"data:image\/png;base64,CQkJ"/)
  })

  it('has a text file as text, with its name', async () => {
    const request = await requestOf(model, history([file('text/csv', btoa('a,b'), 'rows.csv')]))
    expect(request).toContain('rows.csv\\na,b')
  })
})

it('Gemini gets one function response for a result of several texts and files', async () => {
  const { contents } = JSON.parse(
    await requestOf(models['gemini 2.5'] as never, history([text('1'), image, text('2')])),
  )
  const responses = contents.at(-1).parts.filter((part: object) => 'functionResponse' in part)
  expect(responses).toMatchObject([{ functionResponse: { response: { content: '1\n2' } } }])
  const alone = JSON.parse(await requestOf(models['gemini 2.5'] as never, history([image]))).contents
  expect(alone.at(-1).parts.filter((part: object) => 'functionResponse' in part)).toHaveLength(1)
})

it.each(['openai.chat', 'xai.responses', 'ollama', 'unheard.of'])(
  'a package that has only text in results gets a note in place of a file, and a warning: %s',
  async (provider) => {
    const { prompt, warnings } = await sentTo(provider, history([file('application/pdf', 'CQkJ', 'a.pdf')]))
    expect(prompt).toContain('[a.pdf, application/pdf: a file that this model cannot get in the result of a tool]')
    expect(prompt).not.toContain('CQkJ')
    expect(warnings).toMatchObject([{ type: 'unsupported', message: expect.stringContaining('a.pdf') }])
  },
)

it.each([
  ['anthropic.messages', 'audio/wav'],
  ['openai.responses', 'application/zip'],
  ['amazon-bedrock', 'audio/wav'],
  ['google.generative-ai', 'application/zip'],
])('%s gets a note in place of %s, which it would refuse or lose, and a warning', async (provider, mediaType) => {
  const { prompt, warnings } = await sentTo(provider, history([file(mediaType, 'CQkJ')]))
  expect(prompt).toContain(`[${mediaType}: a file that`)
  expect(warnings).toHaveLength(1)
})

it('the gateway gets files for the providers that take them, and text for the others', async () => {
  const model = (modelId: string) => written('v3', [finishV3], { provider: 'gateway', modelId })
  const [claude, mistral] = [model('anthropic/claude-sonnet-4-6'), model('mistral/large')]
  for (const one of [claude, mistral]) await collect(fromAiSdk(one), { messages: history([image]) })
  expect(sent(claude).prompt).toMatchObject([{}, {}, { content: [{ output: { type: 'content' } }] }])
  expect(sent(mistral).prompt).toMatchObject([{}, {}, { content: [{ output: { type: 'text' } }] }, { role: 'user' }])
})

it('a file that is text by its type alone stays a file', async () => {
  const { prompt } = await sentTo('openai.chat', history([file('text/plain', '////')]))
  expect(prompt).toContain('[text/plain: a file that this model cannot get')
})

describe('a file of a user for a package that leaves it out without an error', () => {
  const ask = (part: Part): Message[] => [{ role: 'user', content: [text('Read'), part] }]

  it.each(['ollama', 'cohere.chat', 'databricks'])('is text if it is a text file: %s', async (provider) => {
    const { prompt, warnings } = await sentTo(provider, ask(file('application/json', btoa('{"a":1}'))))
    expect(prompt).toContain(JSON.stringify('{"a":1}'))
    expect(warnings).toEqual([])
  })

  it.each([
    ['ollama', file('application/pdf', 'CQkJ')],
    ['deepseek.chat', file('application/pdf', 'CQkJ')],
    ['databricks', image],
  ])('becomes a note, with a warning: %s', async (provider, part) => {
    const { prompt, warnings } = await sentTo(provider, ask(part))
    expect(prompt).toContain('a file that this model cannot get in a message]')
    expect(warnings).toMatchObject([{ feature: 'file', message: expect.stringContaining(provider) }])
  })
})
