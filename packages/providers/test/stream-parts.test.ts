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

  it('of one id, one after the other, stay apart', async () => {
    const block = (delta: string) => [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta },
      { type: 'text-end', id: '0', providerMetadata: { p: { item: delta } } },
    ]
    const ids = (await chunksOf(...block('a'), ...block('b'))).map((chunk) => chunk.id)
    expect(ids).toEqual(['0', '0', '0~2', '0~2'])
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
  it('sources go on; raw events and unknown parts do not', async () => {
    const source = {
      type: 'source',
      sourceType: 'url',
      id: 's',
      url: 'https://example.com',
      title: 'T',
      filename: 'a.txt',
    }
    const ignored = ['stream-start', 'response-metadata', 'raw', 'ping', 'from-the-future'].map((type) => ({
      type,
    }))
    expect(await chunksOf(...ignored, source)).toEqual([
      { type: 'source', id: 's', url: 'https://example.com', title: 'T', filename: 'a.txt' },
    ])
  })

  it('a reference that supports a text is a source that tells its passage', async () => {
    const source = { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' }
    const citations = [{ source, startIndex: 0, endIndex: 2, citedText: 'Hi there' }]
    const parts = [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Hi' },
      { type: 'text-end', id: '0', citations },
    ]
    const cites = { textId: '0', startIndex: 0, endIndex: 2, citedText: 'Hi there' }
    expect((await chunksOf(...parts)).at(-1)).toEqual({ type: 'source', id: 's', url: 'https://example.com', cites })
  })

  it('what only the provider knows goes on, and a file among thoughts says so', async () => {
    const custom = { type: 'custom', kind: 'p.compaction', providerMetadata: { p: { item: 1 } } }
    const file = { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }
    expect(await chunksOf(custom, file)).toEqual([
      custom,
      { type: 'file', mediaType: 'image/png', data: 'AQID', reasoning: true },
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

  it.each([
    ['inside another', { type: 'error', error: { type: 'server_error', code: null, message: 'busy' } }, 500],
    ['of a known code', { type: 'error', code: 'rate_limit_exceeded', message: 'busy' }, 429],
    ["of Google's status", { code: 503, status: 'UNAVAILABLE', message: 'busy' }, 503],
    ['of a status alone', { status: 'RESOURCE_EXHAUSTED', message: 'busy' }, 429],
  ])('an error object %s has its message and its status', async (_, error, status) => {
    const failed = await errorOf({ type: 'error', error })
    expect(failed).toMatchObject({ code: 'model.failed', status, message: expect.stringContaining('busy') })
  })

  it('an error object keeps what it says of a retry', async () => {
    const error = { message: 'busy', isRetryable: true, data: {} }
    expect(await errorOf({ type: 'error', error })).toMatchObject({ isRetryable: true })
  })

  it.each([
    'Response stream ended without a finish reason.',
    'Incomplete Amazon Bedrock event-stream frame: 7 buffered bytes remain at end of stream.',
    'Unexpected end of JSON input',
  ])('a plain error that tells of a cut is one: %s', async (message) => {
    const cut = new Error(message)
    expect(await errorOf({ type: 'error', error: cut })).toMatchObject({ code: 'model.truncated', cause: cut })
  })

  it.each([
    new Error('The request is incomplete: no messages.'),
    Object.assign(new Error('stream ended'), { statusCode: 400 }),
  ])('any other error stays what it is: %s', async (error) => {
    expect(await errorOf({ type: 'error', error })).toBe(error)
  })

  it('the failed response of OpenAI, which its v2 package passes over, fails the call with its status', async () => {
    const rawValue = { type: 'response.failed', response: { error: { code: 'server_error', message: 'boom' } } }
    const failed = await errorOf({ type: 'raw', rawValue })
    expect(failed).toMatchObject({ code: 'model.failed', status: 500, message: expect.stringContaining('boom') })
  })

  it("an exception of Bedrock's has the status of its name", async () => {
    const message = 'Too many tokens'
    const failed = await errorOf(
      { type: 'raw', rawValue: { throttlingException: { message } } },
      { type: 'error', error: { message } },
    )
    expect(failed).toMatchObject({ code: 'model.failed', status: 429 })
  })

  it('a request for the approval of a call that was not made right before fails with the mend', async () => {
    const asks = { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' }
    const { code, message } = (await errorOf(asks)) as { code: string; message: string }
    expect([code, message]).toEqual(['provider.unsupported', expect.stringContaining('requireApproval: true')])
  })

  it('of a call that the provider runs tells its request for approval, and only for the call right before', async () => {
    const call = { type: 'tool-call', toolName: 'mcp.add', input: '{}', providerExecuted: true, dynamic: true }
    const asks = { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c2' }
    const chunks = await chunksOf({ ...call, toolCallId: 'c1' }, { ...call, toolCallId: 'c2' }, asks)
    const starts = chunks.filter(({ type }) => type === 'tool-input-start')
    expect(starts).toEqual([
      { type: 'tool-input-start', callId: 'c1', name: 'mcp.add', providerExecuted: true },
      {
        type: 'tool-input-start',
        callId: 'c2',
        name: 'mcp.add',
        approvalRequest: { id: 'a', provider: expect.any(String) },
      },
    ])
  })
})
