import { describe, expect, it } from 'vitest'
import { acme, scene } from './scene.ts'

const returns = `# Returns

Send it back within 30 days.

## Damaged goods

Photograph the damage, and write to support.`

describe('memory.documents', () => {
  it('finds the chunk that fits a question, with the place that it comes from', async () => {
    const { handbook } = scene()
    const url = 'https://acme.test/returns'
    const put = await handbook.put('returns', returns, { ...acme, format: 'markdown', url })
    expect(put).toEqual({ status: 'added', chunks: 2 })
    expect((await handbook.search('photographing damages', acme))[0]).toEqual({
      text: 'Damaged goods\n\nPhotograph the damage, and write to support.',
      ...{ id: 'returns', title: 'Returns', section: 'Returns > Damaged goods', url },
      ...{ paragraphs: [3, 4], flow: { untrusted: true } },
    })
  })

  it('does nothing for the same document, and replaces another one', async () => {
    const { handbook } = scene()
    await handbook.put('a', 'The zebra sleeps.', acme)
    expect(await handbook.put('a', 'The zebra sleeps.', acme)).toEqual({ status: 'unchanged', chunks: 1 })
    expect(await handbook.put('a', 'The alpaca eats.\n\nThe llama, too.', acme)).toEqual({
      status: 'replaced',
      chunks: 1,
    })
    expect(await handbook.search('zebra', acme)).toEqual([])
    expect((await handbook.search('alpaca', acme)).map(({ text }) => text)).toEqual([
      'The alpaca eats.\n\nThe llama, too.',
    ])
  })

  it('replaces a document whose title, address or labels changed', async () => {
    const { handbook } = scene()
    await handbook.put('a', 'Zebra', acme)
    for (const change of [{ title: 'Animals' }, { url: 'https://acme.test/a' }, { flow: { private: true } }])
      expect((await handbook.put('a', 'Zebra', { ...acme, ...change })).status).toBe('replaced')
    expect((await handbook.search('zebra', acme))[0]?.flow).toEqual({ private: true })
  })

  it('finds nothing of a deleted document', async () => {
    const { handbook } = scene()
    await handbook.put('a', 'Zebra', acme)
    await handbook.delete('a', acme)
    expect(await handbook.search('zebra', acme)).toEqual([])
    expect(await handbook.get('a', acme)).toBeUndefined()
  })

  it('takes and finds documents while the memory of the tenant and of the person is off', async () => {
    const { handbook, sessions } = scene()
    const ada = { ...acme, owner: 'ada' }
    for (const of of [acme, ada]) await sessions.passages.setOff(of, 1)
    await handbook.put('a', 'The zebra sleeps.', acme)
    await handbook.put('b', 'My zebra eats.', ada)
    expect((await handbook.search('zebra', ada)).map(({ id }) => id).sort()).toEqual(['a', 'b'])
  })
})
