import { isAlliumError, type ModelChunk } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { collect, failureOf, finishOf, textOf } from './calls.ts'
import { messageOf } from './message-of.ts'
import { breakAt, byteByByte, cutAt, sse, status, wireServer } from './wire-server.ts'
import { type Wire, wires } from './wires.ts'

describe.each(wires)('$name over a real socket', (wire) => {
  const body = wire.events.join('')

  it('gives the whole answer', async () => {
    const { url } = await wireServer(sse(body))
    expectWhole(wire, await collect(wire.model(url)))
  })

  it('gives the same answer when each byte comes alone', async () => {
    const { url } = await wireServer(sse(body), byteByByte(body))
    const model = wire.model(url)
    expect(await collect(model)).toEqual(await collect(model))
  })

  it('fails as truncated wherever the answer ends too early, in good order', async () => {
    const offsets = cuts(wire)
    const { url } = await wireServer(...offsets.map((bytes) => cutAt(body, bytes)))
    const model = wire.model(url)
    for (const bytes of offsets) {
      const seen: ModelChunk[] = []
      const error = await failureOf(model, {}, seen)
      expect(isAlliumError(error, 'model.truncated'), `cut at ${bytes}: ${error}`).toBe(true)
      expect(seen.some((chunk) => chunk.type === 'finish')).toBe(false)
    }
  })

  it('fails wherever the socket breaks', async () => {
    const offsets = cuts(wire)
    const { url } = await wireServer(...offsets.map((bytes) => breakAt(body, bytes)))
    const model = wire.model(url)
    for (const _ of offsets) {
      const error = await failureOf(model)
      expect(error).toBeInstanceOf(Error)
      // The 200 of the answer's head is no status of this failure.
      expect(error).not.toHaveProperty('status')
    }
  })

  it('fails at a malformed event, though the stream goes on to its end', async () => {
    const events = [...wire.events.slice(0, 3), 'data: {"half": \n\n', ...wire.events.slice(3)]
    const { url } = await wireServer(sse(events.join('')))
    const seen: ModelChunk[] = []
    expect(await failureOf(wire.model(url), {}, seen)).toMatchObject({ name: 'AI_JSONParseError' })
    expect(seen.some((chunk) => chunk.type === 'tool-input-end')).toBe(false)
  })

  it.each([0, 3])(
    'fails at an error event in a 200 stream, after %i events, with a status for the retry',
    async (at) => {
      const events = [...wire.events.slice(0, at), wire.error, ...wire.events.slice(at)]
      const { url } = await wireServer(sse(events.join('')))
      const error = (await failureOf(wire.model(url))) as Error & { status?: number }
      expect(error).toBeInstanceOf(Error)
      expect(error.message).toContain('boom')
      expect(error.status).toBeGreaterThanOrEqual(500)
    },
  )

  it('fails as truncated at an empty 200', async () => {
    const { url } = await wireServer(sse(''))
    expect(await failureOf(wire.model(url))).toMatchObject({ code: 'model.truncated' })
  })

  it('throws the error of the package for an html page, with its status, after one request', async () => {
    const { url, requests } = await wireServer(status(503, '<html>Bad gateway</html>', { 'content-type': 'text/html' }))
    expect(await failureOf(wire.model(url))).toMatchObject({
      name: 'AI_APICallError',
      statusCode: 503,
      status: 503,
      isRetryable: true,
    })
    expect(requests).toHaveLength(1)
  })

  it('keeps the headers of a 429, and the next call succeeds', async () => {
    const limited = status(429, '{"error":{"message":"slow down"}}', {
      'content-type': 'application/json',
      'retry-after': '7',
    })
    const { url, requests } = await wireServer(limited, sse(body))
    const model = wire.model(url)
    expect(await failureOf(model)).toMatchObject({ status: 429, responseHeaders: { 'retry-after': '7' } })
    expectWhole(wire, await collect(model))
    expect(requests).toHaveLength(2)
  })
})

function expectWhole(wire: Wire, chunks: ModelChunk[]) {
  expect(textOf(chunks)).toBe('Grüße 🧅')
  expect(messageOf(chunks).content).toContainEqual(
    expect.objectContaining({ type: 'tool-call', callId: 'call_1', name: 'add', args: { a: 1 } }),
  )
  if (wire.name !== 'openai chat')
    expect(messageOf(chunks).content).toContainEqual(expect.objectContaining({ type: 'reasoning', text: 'Thinking' }))
  expect(finishOf(chunks)).toMatchObject({
    reason: 'tool-calls',
    usage: { inputTokens: 20, cachedInputTokens: 8, outputTokens: 7 },
  })
}

/** Each edge between events, and places within them, before the answer is whole. */
function cuts({ events, enough }: Wire): number[] {
  const offsets = new Set<number>()
  let at = 0
  for (const event of events.slice(0, enough)) {
    for (let within = 0; within < Buffer.byteLength(event); within += 41) offsets.add(at + within)
    at += Buffer.byteLength(event)
  }
  return [...offsets, at - 1]
}
