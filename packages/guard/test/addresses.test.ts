import { Agent, type Part, toolResult } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { content, pii } from '../src/index.ts'

const image = (data: string | URL, mediaType = 'image/png'): Part => ({ type: 'image', data, mediaType })
const parts: [string, Part][] = [
  ['the address of an image', image('https://x.example/a.png?mail=ada@example.com')],
  ['an address with escapes', image('https://x.example/a.png?mail=ada%40example.com')],
  ['an address as a URL', image(new URL('https://x.example/?mail=ada@example.com'))],
  [
    'the address of a file',
    { type: 'file', data: 'https://x.example/?mail=ada@example.com', mediaType: 'application/pdf' },
  ],
  ['an address of a bucket', image('gs://x-example/ada@example.com/a.png')],
  ['text in a data URL', image('data:text/plain,ada@example.com')],
  ['text with a stray escape in a data URL', image('data:text/plain,100% ada@example.com')],
  ['text in a data URL that states no type', image('data:,ada@example.com')],
  ['text in a data URL of capitals', image('DATA:TEXT/PLAIN;BASE64,YWRhQGV4YW1wbGUuY29t')],
  ['text in a data URL of base64', image(`data:text/plain;base64,${btoa('ada@example.com')}`)],
  ['a drawing of text', image(`data:image/svg+xml,<svg>ada@example.com</svg>`, 'image/svg+xml')],
]
const found = /ada(@|%40)example|YWRhQGV4YW1wbGUuY29t/

/** What a model reads of a part, in the input and in a result of a tool. */
async function reads(part: Part, layer: ReturnType<typeof pii> | ReturnType<typeof content>) {
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, 'Done.'])
  const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => toolResult({ content: [part] }) }
  await new Agent({ model, tools: [look] }).use(layer as never).run([{ role: 'user', content: [part] }])
  return JSON.stringify(model.requests.map(({ messages }) => messages))
}

describe.each<[string, () => ReturnType<typeof pii> | ReturnType<typeof content>]>([
  ['guard.pii', () => pii()],
  [
    'guard.content',
    () => content({ keywords: ['ada@example.com'], onFinding: 'redact', apply: ['input', 'toolResults'] }),
  ],
])('%s', (_, layer) => {
  it.each(parts)('looks at %s, in the input and in results of tools', async (_, part) => {
    expect(JSON.stringify([part])).toMatch(found)
    expect(await reads(part, layer())).not.toMatch(found)
  })

  it('passes an address without a finding, and bytes, as they are', async () => {
    expect(await reads(image('https://x.example/a.png?q=1%202'), layer())).toContain('https://x.example/a.png?q=1%202')
    expect(await reads({ type: 'image', data: new Uint8Array([7]), mediaType: 'image/png' }, layer())).toContain(
      '"image"',
    )
  })
})

it('guard.content looks at the names of arguments, at any depth', async () => {
  const run = (action: 'block' | 'redact') => {
    const model = scriptedModel([{ toolCalls: [{ name: 'note', args: { list: [{ nightingale: 1 }] } }] }, 'Done.'])
    const note = { name: 'note', description: 'Notes', jsonSchema: {}, execute: () => 'ok' }
    return new Agent({ model, tools: [note] }).use(content({ keywords: ['nightingale'], onFinding: action })).run('hi')
  }
  expect((await run('block')).status).toBe('blocked')
  expect((await run('redact')).toolCalls[0]?.args).toEqual({ list: [{ '[removed]': 1 }] })
})
