import type { Message, Part } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { finishV3, optionsFor, written } from './written-model.ts'

const models = [
  ['anthropic.messages', 'claude-sonnet-4-6'],
  ['amazon-bedrock', 'nova-pro'],
  ['openrouter.chat', 'anthropic/claude-sonnet-4.6'],
] as const
const call: Part = { type: 'tool-call', callId: 'c1', name: 'look', args: {} }
const look = (content: string | Part[], more: object = {}): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', callId: 'c1', name: 'look', content, ...more }],
})
const hi: Message = { role: 'user', content: 'Hi' }
const text = (text: string): Part => ({ type: 'text', text })

/** All texts of a prompt. */
function textsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string') return key === 'text' || key === 'content' || key === 'value' ? [value] : []
  return Object.entries(value ?? {}).flatMap(([name, one]) => textsIn(one, Number.isNaN(Number(name)) ? name : key))
}

describe.each(models)('a text of white space for %s %s', (provider, modelId) => {
  it.each<[string, Message[]]>([
    ['as instructions', [{ role: 'system', content: ' \n' }, hi]],
    [
      'as a part of the instructions',
      [{ role: 'system', content: [text(' '), { ...text('\n'), providerMetadata: { p: {} } }] }, hi],
    ],
    ['as the input', [{ role: 'user', content: '  ' }]],
    [
      'beside an image of the input',
      [{ role: 'user', content: [text('\n'), { type: 'image', data: new Uint8Array(1), mediaType: 'image/png' }] }],
    ],
    ['before a call', [hi, { role: 'assistant', content: [text('\n'), call] }, look('ok')]],
    ['as an answer', [hi, { role: 'assistant', content: '\n\n' }, hi]],
    [
      'with metadata',
      [hi, { role: 'assistant', content: [{ ...text(' '), providerMetadata: { anthropic: {} } }] }, hi],
    ],
    ['as a result', [hi, { role: 'assistant', content: [call] }, look(' ', { isError: true })]],
    ['as a part of a result', [hi, { role: 'assistant', content: [call] }, look([text(' '), text('a')])]],
    [
      'beside an image of a result',
      [
        hi,
        { role: 'assistant', content: [call] },
        look([text(' '), { type: 'image', data: new Uint8Array(1), mediaType: 'image/png' }]),
      ],
    ],
  ])('is not sent: %s', async (_, messages) => {
    const { prompt } = await optionsFor({ messages }, written('v3', [finishV3], { provider, modelId }))
    expect(textsIn(prompt).filter((one) => one.trim() === '')).toEqual([])
    expect((prompt as unknown as { role: string }[]).find(({ role }) => role !== 'system')?.role).toBe('user')
  })
})

it('sends it to others as it is, but no blank instructions', async () => {
  const messages: Message[] = [
    { role: 'system', content: ' ' },
    { role: 'user', content: ' ' },
    { role: 'assistant', content: '\n' },
  ]
  const { prompt } = await optionsFor({ messages })
  expect(textsIn(prompt)).toEqual([' ', '\n'])
})
