import type { ModelChunk, ModelRequest } from '@allium/core'
import { cleanChunks, cleaner } from '@allium/shared/recording'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordModel, replayModel, type Scrub, scriptedModel } from '../../src/index.ts'
import { growth } from '../growth.ts'
import { ask, call, request } from '../model-calls.ts'

const key = 'sk-ant-api03-AbCdEfGhIjKlMnOpQrSt'

async function recorded(chunks: (string | ModelChunk)[], asked: Partial<ModelRequest> = {}, scrub?: Scrub) {
  const recorder = recordModel(scriptedModel([{ chunks }]), { scrub })
  await call(recorder, request(asked))
  return recorder.cassette
}

describe('a recording', () => {
  it.each([
    ['OpenAI', 'sk-proj-abcdefghijklmnop0123'],
    ['Anthropic', key],
    ['Google', 'AIzaSyA-1234567890abcdefghijklmnopqrstu'],
    ['GitHub', 'ghp_0123456789abcdefghijABCDEFGHIJ012345'],
    ['GitHub, fine-grained', 'github_pat_11ABCDEFG0123456789_abcdefgh'],
    ['Slack', 'xoxb-123456789012-abcdefABCDEF'],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['Stripe', 'sk_live_0123456789abcdef'],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl'],
    ['a PEM key', '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----'],
    ['a PEM key that was cut', '-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA'],
    ['an encrypted PEM key', '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,E\n\nMIIE\n-----END RSA PRIVATE KEY-----'],
  ])('keeps no key of %s, and what stands around it', (_, secret) => {
    expect(cleaner()(`before ${secret}`)).toBe('before [scrubbed]')
    expect(cleaner()(`{"a":"${secret}"}`)).toBe('{"a":"[scrubbed]"}')
  })

  it('keeps the scheme of a bearer and the user of a URL, and sentences about them', () => {
    const clean = cleaner()
    expect(clean('Authorization: Bearer abc.DEF-123456')).toBe('Authorization: Bearer [scrubbed]')
    expect(clean('postgres://app:hunter2@db/main')).toBe('postgres://app:[scrubbed]@db/main')
    const plain = 'The bearer authentication of task-management-systems-of-today: see https://a.b/c:d and a@b.c'
    expect(clean(plain)).toBe(plain)
  })

  it('keeps the names of all headers and no value, and no setting that is named like a credential', async () => {
    const headers = { Authorization: 'hunter2', 'x-odd': 'hunter3' }
    const providerOptions = { openai: { apiKey: 'hunter4', user: 'u1' } }
    const { entries } = await recorded(['hi'], { settings: { headers, providerOptions, topP: 1 } })
    expect(entries[0]?.request.settings).toEqual({
      headers: { authorization: '[scrubbed]', 'x-odd': '[scrubbed]' },
      providerOptions: { openai: { apiKey: '[scrubbed]', user: 'u1' } },
      topP: 1,
    })
  })

  it('keeps no secret of messages, tools, URLs, errors and tool results', async () => {
    const recorder = recordModel(scriptedModel([new Error(`bad key ${key}`, { cause: key })]))
    await call(recorder, {
      ...request(),
      tools: [{ name: 't', description: key, jsonSchema: { [key]: 1 } }],
      messages: [
        { role: 'system', content: key },
        { role: 'user', content: [{ type: 'image', data: new URL(`https://a.b/?key=${key}`), mediaType: 'i/p' }] },
        { role: 'assistant', content: [{ type: 'tool-call', callId: 'c', name: 't', args: { a: [{ b: key }] } }] },
        { role: 'tool', content: [{ type: 'tool-result', callId: 'c', name: 't', content: key }] },
      ],
    })
    expect(JSON.stringify(recorder.cassette)).not.toContain('AbCdEf')
    expect(JSON.stringify(recorder.cassette).match(/\[scrubbed\]/g)).toHaveLength(8)
  })

  it('looks below the tags of JSON, too', async () => {
    const args = { a: { $bytes: key, more: 1 }, b: { $object: { $bytes: key } }, c: { $url: key } }
    const message = {
      role: 'assistant' as const,
      content: [{ type: 'tool-call' as const, callId: 'c', name: 't', args }],
    }
    expect(JSON.stringify(await recorded(['hi'], { messages: [message] }))).not.toContain(key)
  })

  it('keeps no secret that is cut over deltas, and every chunk that it does not touch', async () => {
    const { entries } = await recorded([
      'Use ',
      'it: sk-ant-',
      { type: 'reasoning-delta', delta: 'hm' },
      { type: 'text-delta', delta: 'api03-AbCdEfGhIjKl', id: '2' },
      'MnOpQrSt now',
      '.',
    ])
    expect(entries[0]?.chunks.slice(0, -1)).toEqual([
      { type: 'text-delta', delta: 'Use ' },
      { type: 'text-delta', delta: 'it: [scrubbed]' },
      { type: 'reasoning-delta', delta: 'hm' },
      { type: 'text-delta', delta: ' now' },
      { type: 'text-delta', delta: '.' },
    ])
  })

  it('keeps no secret of tool arguments, cut or escaped, and the arguments stay JSON', async () => {
    const escaped = `{"key":"\\u0073k-ant-api03-AbCdEfGhIjKlMnOpQrSt","n":1}`
    const { entries } = await recorded([
      { type: 'tool-input-start', callId: 'a', name: 't' },
      { type: 'tool-input-start', callId: 'b', name: 't' },
      { type: 'tool-input-delta', callId: 'a', delta: escaped.slice(0, 20) },
      { type: 'tool-input-delta', callId: 'b', delta: '{"plain":true}' },
      { type: 'tool-input-delta', callId: 'a', delta: escaped.slice(20) },
    ])
    const deltas = (entries[0]?.chunks ?? []).flatMap((chunk) => (chunk.type === 'tool-input-delta' ? [chunk] : []))
    const of = (id: string) =>
      JSON.parse(deltas.flatMap(({ callId, delta }) => (callId === id ? [delta] : [])).join(''))
    expect([of('a'), of('b')]).toEqual([{ key: '[scrubbed]', n: 1 }, { plain: true }])
  })

  it('says the same cleaned, wherever the chunk edges are', () => {
    const pieces = fc.array(fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('key', 'k', 'ey', 'longer ')))
    fc.assert(
      fc.property(pieces, fc.constantFrom('', 'x', '[a longer mark]'), (deltas, mark) => {
        const clean = (text: string) => text.replaceAll('key', mark).replace(/$/, mark)
        const chunks = deltas.map((delta): ModelChunk => ({ type: 'text-delta', delta }))
        const said = cleanChunks(chunks, clean).map((chunk) => ('delta' in chunk ? chunk.delta : ''))
        expect(said.join('')).toBe(deltas.length === 0 ? '' : clean(deltas.join('')))
      }),
    )
  })

  it.each<[string, Scrub]>([
    ['texts and patterns', ['Ada', /\d{4}-\d\d-\d\d/]],
    ['a function', (text) => text.replaceAll('Ada', '[name]').replaceAll(/\d{4}-\d\d-\d\d/g, '[date]')],
  ])('removes what the user names by %s, and a replay matches although it differs', async (_, scrub) => {
    const recorder = recordModel(scriptedModel([{ chunks: ['Hello A', 'da'] }]), { scrub })
    await call(recorder, ask('I am Ada, it is 2026-01-02'))
    expect(JSON.stringify(recorder.cassette)).not.toMatch(/Ada|A"|2026/)
    const replayed = replayModel(recorder.cassette, { scrub })
    expect((await call(replayed, ask('I am Ada, it is 2027-05-06'))).error).toBeUndefined()
  })

  it('is not changed by cleaning it again, whatever the patterns', () => {
    const clean = cleaner([/\w+/, '', /(?:)/])
    expect(clean('one two')).toBe('[scrubbed] [scrubbed]')
    expect(clean(clean('one two'))).toBe(clean('one two'))
  })

  it('takes time by the length of the text alone, be it hostile', async () => {
    const seeds = [
      ...['a', ' ', '-', 'sk-', 'eyJ', '.eyJaaaaaaaa', 'eyJaaaaaaaaa.', 'eyJ-', 'AIza', 'ghp_', 'xoxb-', 'AKIA', 'A'],
      ...['Bearer ', 'bearer\t', '-----BEGIN PRIVATE KEY-----', '-----BEGIN ', 'a-', '://', '://a:', ':', '://:', '@'],
      ...['-----BEGIN PRIVATE KEY-----a-----', '[scrubbed]', 'sk_live_', 'github_pat_', `://${'a'.repeat(64)}:`],
    ]
    const clean = cleaner()
    for (const seed of seeds)
      for (const prefix of ['-----BEGIN PRIVATE KEY----- Bearer ', 'Bearer ', '']) {
        // Four times the text; the square would be sixteen.
        const work = (size: number) => clean(prefix + seed.repeat(size / seed.length))
        expect(await growth(work, 2 ** 16, 2 ** 18, 12), prefix + seed).toBeLessThan(12)
      }
  })
})
