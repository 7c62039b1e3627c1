import { describe, expect, it } from 'vitest'
import { chunksOf, errorOf } from './written-model.ts'

describe('text and reasoning', () => {
  it('keep their ids, and metadata of the start comes with the first delta', async () => {
    const parts = [
      { type: 'text-start', id: '0', providerMetadata: { p: { item: 1 } } },
      { type: 'text-delta', id: '0', delta: 'a' },
      { type: 'text-delta', id: '0', delta: 'b' },
      { type: 'text-end', id: '0' },
    ]
    expect(await chunksOf(...parts)).toEqual([
      { type: 'text-delta', id: '0', delta: 'a', providerMetadata: { p: { item: 1 } } },
      { type: 'text-delta', id: '0', delta: 'b' },
    ])
  })

  it('get metadata of the end in an empty delta, together with what came before', async () => {
    const parts = [
      { type: 'reasoning-start', id: 'r', providerMetadata: { p: { item: 1 } } },
      { type: 'reasoning-end', id: 'r', providerMetadata: { p: { sig: 's' } } },
    ]
    expect(await chunksOf(...parts)).toEqual([
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { p: { item: 1, sig: 's' } } },
    ])
  })

  it('lose empty deltas that say nothing', async () => {
    expect(
      await chunksOf(
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: '' },
        { type: 'text-end', id: '0' },
      ),
    ).toEqual([])
  })
})

describe('other parts', () => {
  it('sources go on; warnings, raw events and unknown parts do not', async () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com', title: 'T' }
    const ignored = ['stream-start', 'response-metadata', 'raw', 'custom', 'ping', 'from-the-future'].map((type) => ({
      type,
    }))
    expect(await chunksOf(...ignored, source)).toEqual([
      { type: 'source', id: 's', url: 'https://example.com', title: 'T' },
    ])
  })

  it('an error fails the call with that very error, though the stream goes on', async () => {
    const error = new TypeError('no')
    expect(await errorOf({ type: 'error', error }, { type: 'text-delta', id: '0', delta: 'x' })).toBe(error)
  })

  it('an error that is a plain object becomes the cause of one', async () => {
    const error = { type: 'overloaded_error', message: 'busy' }
    expect(await errorOf({ type: 'error', error })).toMatchObject({
      code: 'model.failed',
      cause: error,
      status: 529,
      message: expect.stringContaining('busy'),
    })
  })

  it('a request for approval at the provider fails with the mend', async () => {
    expect(await errorOf({ type: 'tool-approval-request' })).toMatchObject({ code: 'provider.unsupported' })
  })
})
