import type { Message, Part } from '@allium/core'
import { expect, it } from 'vitest'
import { finishV3, optionsFor, written } from './written-model.ts'

const image = (byte: number): Part => ({ type: 'image', data: new Uint8Array([byte]), mediaType: 'image/png' })
const shot = (callId: string, content: Part[]): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId, name: 'shot', content }],
})
const messages: Message[] = [
  { role: 'user', content: 'Look' },
  shot('1', [{ type: 'text', text: 'A page' }, image(1)]),
  shot('2', [image(2), { type: 'file', data: new Uint8Array(9), mediaType: 'application/zip' }]),
  { role: 'assistant', content: 'Nice.' },
  shot('3', [image(3)]),
]
const promptOf = async (version: string, provider: string) =>
  (await optionsFor({ messages }, written(version, [finishV3], { provider }))).prompt as unknown as {
    role: string
    content: unknown[]
  }[]

it.each(['v2', 'v3', 'v4'])(
  'an API with text in tool results gets the images of tools in the message after (%s)',
  async (version) => {
    const prompt = await promptOf(version, 'openai.chat')
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'tool', 'user', 'assistant', 'tool', 'user'])
    expect(prompt[1]?.content).toMatchObject([
      { output: { type: 'text', value: 'A page\n[image/png: image 1 of the next message]' } },
      {
        output: {
          type: 'text',
          value:
            '[image/png: image 2 of the next message]\n[application/zip: a file that this model cannot get in the result of a tool]',
        },
      },
    ])
    expect(prompt[2]?.content).toMatchObject([
      { type: 'text' },
      { type: 'file', mediaType: 'image/png' },
      { type: 'file', mediaType: 'image/png' },
    ])
    expect(prompt[5]?.content).toHaveLength(2)
  },
)

it.each(['openai.responses', 'anthropic.messages', 'google.generative-ai', 'google.vertex.chat'])(
  'an API with images in tool results gets them there: %s',
  async (provider) => {
    const prompt = await promptOf('v3', provider)
    expect(prompt[1]?.content).toMatchObject([
      { output: { type: 'content', value: [{ type: 'text' }, { type: 'image-data' }] } },
      {},
    ])
  },
)

it('names the URL of an image that the model does not fetch, in place of a request that fails', async () => {
  const picture: Part = { type: 'image', data: 'http://127.0.0.1/a.png', mediaType: 'image/png' }
  const supportedUrls = { 'image/*': [/^https:/] }
  const model = written('v3', [finishV3], { provider: 'openai.chat', supportedUrls })
  const { prompt } = await optionsFor({ messages: [shot('1', [picture])] }, model)
  expect(prompt).toMatchObject([{ content: [{ output: { value: '[image/png: http://127.0.0.1/a.png]' } }] }])
})
