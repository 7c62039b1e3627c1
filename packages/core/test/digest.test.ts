import { describe, expect, it } from 'vitest'
import { digestOf } from '../src/internal.ts'
import { freezeJson } from '../src/messages/json.ts'
import { contentDigestOf } from '../src/ports/content-digest.ts'

const talk = () => [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
]

describe('digestOf', () => {
  it('is the same for equal messages, frozen or not, whatever the order of their keys', async () => {
    const frozen = freezeJson(talk())
    const turned = [{ content: 'Hi', role: 'user' }, ...talk().slice(1)]
    const digests = [frozen, frozen, talk(), turned].map((messages) => digestOf({ tools: [], messages }))
    expect(new Set(await Promise.all(digests)).size).toBe(1)
  })

  it('reads a message again that could have changed, also deep inside', async () => {
    const part = { type: 'text', text: 'Hi' }
    const image = { type: 'image', data: new Uint8Array([1]), mediaType: 'image/png' }
    const message = Object.freeze({ role: 'user', content: Object.freeze([part, Object.freeze(image)]) })
    const first = await digestOf([message])
    part.text = 'Bye'
    const second = await digestOf([message])
    image.data[0] = 2
    expect(new Set([first, second, await digestOf([message])]).size).toBe(3)
  })

  it('tells lists apart that hold the same messages in another way', async () => {
    const [a, b] = talk()
    const values = [[a, b], [b, a], [[a], [b]], [a], { a: [a, b] }, [[a, b]], []]
    expect(new Set(await Promise.all(values.map(digestOf))).size).toBe(values.length)
  })

  it('takes no value for a list of messages that names its digests', async () => {
    const list = await digestOf([{ role: 'user', content: 'Hi' }])
    const { createHash } = await import('node:crypto')
    const one = createHash('sha256').update('{"content":"Hi","role":"user"}').digest('base64url')
    expect(await digestOf({ '\0messages': one })).not.toBe(list)
  })

  it('is the same without the hash of Node', async () => {
    const { getBuiltinModule } = process
    const here = await digestOf({ messages: talk() })
    try {
      Reflect.set(process, 'getBuiltinModule', undefined)
      expect(await digestOf({ messages: talk() })).toBe(here)
    } finally {
      Reflect.set(process, 'getBuiltinModule', getBuiltinModule)
    }
  })
})

describe('contentDigestOf', () => {
  const withImage = (byte: number) => [
    ...talk(),
    { role: 'user', content: [{ type: 'image', data: new Uint8Array(5000).fill(byte), mediaType: 'image/png' }] },
  ]

  it('is that of digestOf() for a value without bytes', async () => {
    for (const value of [talk(), { data: [1], at: null }, 'Hi'])
      expect(await contentDigestOf(value)).toBe(await digestOf(value))
  })

  it('tells images apart, and is the same for equal ones', async () => {
    const digests = [1, 1, 2].map((byte) => contentDigestOf({ messages: withImage(byte), tools: [] }))
    const [one, same, other] = await Promise.all(digests)
    expect([one === same, one === other]).toEqual([true, false])
  })

  it('tells images in base64 apart, also in messages whose digests are known', async () => {
    const withText = (letter: string) => freezeJson([{ role: 'user', content: letter.repeat(1_500_000) }])
    const [one, same, other] = [withText('a'), withText('a'), withText('b')]
    await digestOf(one)
    const digests = await Promise.all([one, same, other].map(contentDigestOf))
    expect([digests[0] === digests[1], digests[0] === digests[2]]).toEqual([true, false])
  })

  it('reads an image again that was changed', async () => {
    const data = new Uint8Array(5000)
    const messages = [{ role: 'user', content: [{ type: 'image', data, mediaType: 'image/png' }] }]
    const first = await contentDigestOf(messages)
    data[4999] = 2
    expect(await contentDigestOf(messages)).not.toBe(first)
  })
})
