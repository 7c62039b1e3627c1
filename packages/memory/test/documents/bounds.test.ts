import { describe, expect, it } from 'vitest'
import { documents } from '../../src/documents/index.ts'
import { acme, scene } from './scene.ts'

describe('memory.documents has bounds', () => {
  it('rejects a document of more bytes, chunks or none at all, and keeps the former one', async () => {
    const { collection } = scene()
    const handbook = collection({ maxBytes: 20_000, maxChunks: 3 })
    await handbook.put('a', 'Zebra', acme)
    await expect(handbook.put('a', 'ä'.repeat(10_001), acme)).rejects.toThrow(
      'has 20002 bytes, and 20000 are the maximum',
    )
    const four = ['# A', '# B', '# C', '# D'].map((heading) => `${heading}\n\nText.`).join('\n\n')
    await expect(handbook.put('a', four, { ...acme, format: 'markdown' })).rejects.toThrow(
      'has 4 chunks, and 3 are the maximum',
    )
    await expect(handbook.put('a', ' \n', acme)).rejects.toThrow('has no text')
    expect((await handbook.search('zebra', acme)).map(({ text }) => text)).toEqual(['Zebra'])
  })

  it('rejects a document too many of a tenant, but replaces one, and counts people apart', async () => {
    const handbook = scene({ maxDocuments: 2 }).handbook
    for (const id of ['a', 'b']) await handbook.put(id, 'Zebra', acme)
    await expect(handbook.put('c', 'Zebra', acme)).rejects.toThrow('has 2 documents, which is the maximum')
    expect((await handbook.put('b', 'Alpaca', acme)).status).toBe('replaced')
    expect((await handbook.put('c', 'Zebra', { ...acme, owner: 'ada' })).status).toBe('added')
  })

  it('rejects options and addresses that it does not know', async () => {
    const { store, handbook } = scene()
    expect(() => documents({ store, name: 'a/b' })).toThrow('letters, digits')
    expect(() => documents({ store, name: 'a', maxBytes: 0 })).toThrow('Pass a whole number from 1')
    expect(() => documents({ store, name: 'a', language: 'xx' as 'en' })).toThrow('It knows ar, da')
    expect(() => documents({ store: {} as never, name: 'a' })).toThrow('needs the option store')
    const put = (options: object) => handbook.put('a', 'Zebra', { ...acme, ...options })
    await expect(put({ url: 'javascript:alert(1)' })).rejects.toThrow('Pass an http: or https: address')
    await expect(put({ format: 'pdf' })).rejects.toThrow('It reads text, markdown, html')
    await expect(put({ flow: { secret: true } })).rejects.toThrow('Use { untrusted')
    await expect(put({ titel: 'A' })).rejects.toThrow('Did you mean "title"?')
    await expect(handbook.put('', 'Zebra', acme)).rejects.toThrow('The id of a document is')
    await expect(handbook.search('zebra', { ...acme, limit: 101 })).rejects.toThrow('from 1 to 100')
  })

  it('rejects a document that another call is putting', async () => {
    const { handbook, sessions } = scene()
    await handbook.put('a', 'Zebra', acme)
    const { items } = await sessions.list({ tenant: 'acme', limit: 1 })
    await sessions.acquire(items[0]!.key, 1_000)
    await expect(handbook.put('a', 'Alpaca', acme)).rejects.toMatchObject({ code: 'session.busy' })
    expect((await handbook.put('a', 'Zebra', acme)).status).toBe('unchanged')
  })

  it('lists the documents of a tenant page by page', async () => {
    const { handbook, clock } = scene()
    for (const id of ['a', 'b', 'c']) {
      await handbook.put(id, 'Zebra', acme)
      await clock.advance(1)
    }
    const first = await handbook.list({ ...acme, limit: 2 })
    expect(first.items.map(({ id }) => id)).toEqual(['c', 'b'])
    const { items } = await handbook.list({ ...acme, limit: 2, cursor: first.cursor as string })
    expect(items.map(({ id }) => id)).toEqual(['a'])
    expect(await handbook.get('a', acme)).toEqual({ id: 'a', title: 'a', url: undefined, chunks: 1 })
  })
})
