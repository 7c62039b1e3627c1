import { describe, expect, it } from 'vitest'
import { chunksOf, errorOf } from './written-model.ts'

describe('text and reasoning', () => {
  it('keep their ids, and metadata of the start comes with the first delta', async () => {
    const parts = [
      { type: 'text-start', id: '0', providerMetadata: { acme: { item: 1 } } },
      { type: 'text-delta', id: '0', delta: 'a' },
      { type: 'text-delta', id: '0', delta: 'b' },
      { type: 'text-end', id: '0' },
    ]
    expect(await chunksOf(...parts)).toEqual([
      { type: 'text-delta', id: '0', delta: 'a', providerMetadata: { acme: { item: 1 } } },
      { type: 'text-delta', id: '0', delta: 'b' },
    ])
  })

  it('get metadata of the end in an empty delta, together with what came before', async () => {
    const parts = [
      { type: 'reasoning-start', id: 'r', providerMetadata: { acme: { item: 1 } } },
      { type: 'reasoning-end', id: 'r', providerMetadata: { acme: { sig: 's' } } },
    ]
    expect(await chunksOf(...parts)).toEqual([
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: { acme: { item: 1, sig: 's' } } },
    ])
  })

  it('of one id, one after the other, stay apart', async () => {
    const block = (delta: string) => [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta },
      { type: 'text-end', id: '0', providerMetadata: { acme: { item: delta } } },
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
    const custom = { type: 'custom', kind: 'acme.compaction', providerMetadata: { acme: { item: 1 } } }
    const file = { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } }
    expect(await chunksOf(custom, file)).toEqual([
      custom,
      { type: 'file', mediaType: 'image/png', data: 'AQID', reasoning: true, providerMetadata: { acme: {} } },
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

  const call = { type: 'tool-call', toolName: 'mcp.add', input: '{}', providerExecuted: true, dynamic: true }
  const asks = (toolCallId: string) => ({ type: 'tool-approval-request', approvalId: `of ${toolCallId}`, toolCallId })
  const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'mcp.add', result: 'added' }

  it.each([
    ['was not made', []],
    ['has a result', [{ ...call, toolCallId: 'c1' }, result]],
    ['readers have seen begin', [{ type: 'tool-input-start', id: 'c1', toolName: 'mcp.add', providerExecuted: true }]],
    ['was approved already', [{ ...call, toolCallId: 'c1' }, asks('c1')]],
  ])('a request for the approval of a call that %s fails with advice', async (_, before) => {
    const { code, message } = (await errorOf(...before, asks('c1'))) as { code: string; message: string }
    expect([code, message]).toEqual(['provider.unsupported', expect.stringContaining('requireApproval: true')])
  })

  it.each([
    ['directly', []],
    [
      'after a text',
      [
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta: 'Wait.' },
      ],
    ],
    ['after a source', [{ type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' }]],
    ['after another call and its request', [{ ...call, toolCallId: 'c2' }, asks('c2')]],
  ])('a call that the provider runs tells its request for approval, which comes %s', async (_, between) => {
    const chunks = await chunksOf({ ...call, toolCallId: 'c1' }, ...between, asks('c1'))
    const start = chunks.find((chunk) => chunk.type === 'tool-input-start' && chunk.callId === 'c1')
    const approvalRequest = { id: 'of c1', provider: expect.any(String) }
    expect(start).toMatchObject({ callId: 'c1', name: 'mcp.add', approvalRequest })
    expect(start).not.toHaveProperty('providerExecuted')
  })

  it('a call that the provider runs without a request comes before its result, or at the end', async () => {
    const chunks = await chunksOf({ ...call, toolCallId: 'c1' }, { ...call, toolCallId: 'c2' }, asks('c2'), result)
    const made = chunks.flatMap((chunk) => ('name' in chunk && 'callId' in chunk ? [[chunk.type, chunk.callId]] : []))
    expect(made).toEqual([
      ['tool-input-start', 'c2'],
      ['tool-input-start', 'c1'],
      ['tool-result', 'c1'],
    ])
    const late = await chunksOf({ ...call, toolCallId: 'c1' })
    const start = { type: 'tool-input-start', callId: 'c1', name: 'mcp.add', providerExecuted: true }
    expect(late).toContainEqual(expect.objectContaining(start))
  })

  it('a call that the provider tells twice with other arguments while it may still ask is refused', async () => {
    const twice = [
      { ...call, toolCallId: 'c1' },
      { ...call, toolCallId: 'c1', input: '{"a":1}' },
    ]
    expect(await errorOf(...twice, asks('c1'))).toMatchObject({ code: 'model.protocol' })
  })
})
