import type { Message, Part } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import { describe, expect, it } from 'vitest'
import { failureOf } from './calls.ts'
import { finishV3, optionsFor, written } from './written-model.ts'

const promptFor = async (messages: Message[]) => (await optionsFor({ messages })).prompt
const result = (callId: string, more: object): Part => ({
  type: 'tool-result',
  callId,
  name: 'add',
  content: '',
  ...more,
})

describe('files', () => {
  const file = (data: Uint8Array | URL | string): Message => ({
    role: 'user',
    content: [{ type: 'file', data, mediaType: 'text/plain', filename: 'a.txt' }],
  })
  it.each([
    ['bytes', new Uint8Array([104, 105]), new Uint8Array([104, 105])],
    ['base64', 'aGk=', 'aGk='],
    ['a data URL in base64', 'data:text/plain;base64,aGk=', 'aGk='],
    ['a data URL in plain text', 'data:text/plain,h%69', new Uint8Array([104, 105])],
    ['a URL as text', 'https://example.com/a.txt', new URL('https://example.com/a.txt')],
  ])('are taken as %s', async (_, data, expected) => {
    const piece = { type: 'file', mediaType: 'text/plain', filename: 'a.txt', data: expected }
    expect(await promptFor([file(data)])).toEqual([{ role: 'user', content: [piece] }])
  })

  const picky = { supportedUrls: Promise.resolve({ 'image/*': [/^https:\/\/cdn\./] }) }
  it('by a URL that the model does not fetch fail, and nothing is sent', async () => {
    const model = written('v3', [finishV3], picky)
    const error = await failureOf(fromAiSdk(model), { messages: [file('https://cdn.example.com/a.txt?token=secret')] })
    expect(error).toMatchObject({ code: 'provider.unsupported', message: expect.not.stringContaining('secret') })
    expect(model.calls).toHaveLength(0)
  })

  it.each([
    ['the model does not fetch', picky],
    ["Google's packages would download in this process", { provider: 'google.generative-ai' }],
  ])('in a tool result by a URL that %s are told as text', async (_, over) => {
    const image: Part = { type: 'image', data: 'http://169.254.169.254/a.png', mediaType: 'image/png' }
    const { prompt } = await optionsFor(
      { messages: [{ role: 'tool', content: [result('1', { content: [image] })] }] },
      written('v3', [finishV3], over),
    )
    expect(prompt).toMatchObject([
      { content: [{ output: { type: 'text', value: '[image/png: http://169.254.169.254/a.png]' } }] },
    ])
  })
})
