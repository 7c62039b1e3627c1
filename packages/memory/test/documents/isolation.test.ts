import { describe, expect, it } from 'vitest'
import { acme, scene } from './scene.ts'

const ada = { ...acme, owner: 'ada' }
const bob = { ...acme, owner: 'bob' }

describe('memory.documents between tenants and people', () => {
  it('finds the documents of the tenant and of the person, and of nobody else', async () => {
    const { handbook } = scene()
    await handbook.put('shared', 'The zebra of all.', acme)
    await handbook.put('own', 'The zebra of Ada.', ada)
    await handbook.put('own', 'The zebra of Bob.', bob)
    await handbook.put('own', 'The zebra of Globex.', { tenant: 'globex' })
    const find = async (of: { tenant: string; owner?: string }) =>
      (await handbook.search('zebra', of)).map(({ text }) => text).toSorted()
    expect(await find(ada)).toEqual(['The zebra of Ada.', 'The zebra of all.'])
    expect(await find(acme)).toEqual(['The zebra of all.'])
    expect(await find({ tenant: 'globex', owner: 'ada' })).toEqual(['The zebra of Globex.'])
  })

  it('finds nothing of another collection', async () => {
    const { handbook, collection } = scene()
    await handbook.put('a', 'Zebra', acme)
    expect(await collection({ name: 'wiki' }).search('zebra', acme)).toEqual([])
    expect(await handbook.search('zebra', { tenant: 'ACME' })).toEqual([])
  })

  it('rejects an owner without a name, which would share the document with the tenant', async () => {
    const { handbook } = scene()
    for (const owner of ['', undefined, null, 7] as string[])
      await expect(handbook.put('a', 'Zebra', { ...acme, owner })).rejects.toMatchObject({ code: 'options.invalid' })
    for (const tenant of ['', undefined] as string[])
      await expect(handbook.put('a', 'Zebra', { tenant })).rejects.toThrow('needs the tenant of the documents')
    await expect(handbook.search('zebra', { tenant: '' })).rejects.toThrow('needs the tenant')
  })

  it('keeps the order of a tenant when others put documents with the same words', async () => {
    const { handbook } = scene()
    const texts = ['The zebra sleeps in the vault.', 'A zebra.', 'The vault is open, and the alpaca is out.']
    for (const [i, text] of texts.entries()) await handbook.put(`${i}`, text, acme)
    const before = await handbook.search('zebra vault alpaca', acme)
    for (let i = 0; i < 20; i++) await handbook.put(`${i}`, 'zebra zebra alpaca', { tenant: 'globex' })
    await handbook.put('x', 'vault vault', bob)
    expect(await handbook.search('zebra vault alpaca', acme)).toEqual(before)
  })

  it('erases the documents of a person with them, and those of a tenant with it', async () => {
    const { handbook, sessions, clock } = scene()
    await handbook.put('a', 'Zebra', acme)
    await handbook.put('b', 'Zebra', ada)
    await clock.advance(1)
    await sessions.erase(ada)
    expect((await handbook.search('zebra', ada)).map(({ id }) => id)).toEqual(['a'])
    await sessions.erase(acme)
    expect(await handbook.search('zebra', ada)).toEqual([])
    await clock.advance(1)
    expect((await handbook.put('b', 'Zebra', ada)).status).toBe('added')
  })

  it('stores nothing if the person is erased while the document is put', async () => {
    const { handbook, sessions, store, collection } = scene()
    const key = store.passages.key.bind(store.passages)
    const passages = Object.assign(Object.create(store.passages), {
      key: async (...args: Parameters<typeof key>) => {
        await sessions.erase(ada)
        return key(...args)
      },
    })
    const erasing = collection({ store: { sessions, passages } })
    await expect(erasing.put('a', 'Zebra', ada)).rejects.toMatchObject({ code: 'store.fenced' })
    expect(await handbook.list(ada)).toEqual({ items: [] })
  })

  it('keeps documents when old conversations expire', async () => {
    const { handbook, sessions, clock } = scene()
    await handbook.put('a', 'Zebra', acme)
    await clock.advance(365 * 24 * 3_600_000)
    expect(await sessions.expire({ olderThan: 1_000 })).toBe(0)
    expect(await handbook.search('zebra', acme)).toHaveLength(1)
  })
})
