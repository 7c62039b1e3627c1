import { describe, expect, it } from 'vitest'
import { collect, failureOf, request } from './calls.ts'
import { sse, stall, status, wireServer } from './wire-server.ts'
import { apiKey, wires } from './wires.ts'

describe.each(wires)('the socket of $name', ({ model, events }) => {
  const beginning = events.slice(0, 5).join('')

  it('is closed when the signal aborts in mid-stream', async () => {
    const { answer, closed } = stall(beginning)
    const { url } = await wireServer(answer)
    const controller = new AbortController()
    const reading = model(url)
      .stream(request({ signal: controller.signal }))
      [Symbol.asyncIterator]()
    await reading.next()
    controller.abort('the user left')
    const rest = async () => {
      while (!(await reading.next()).done);
    }
    await expect(rest()).rejects.toMatchObject({ name: 'AbortError', reason: 'the user left' })
    await closed
  })

  it('is closed when the signal aborts before the answer begins', async () => {
    const controller = new AbortController()
    const { answer, closed } = stall('')
    const { url } = await wireServer((res, received) => {
      answer(res, received)
      controller.abort(new DOMException('Too slow', 'TimeoutError'))
    })
    expect(await failureOf(model(url), { signal: controller.signal })).toBe(controller.signal.reason)
    await closed
  })

  it('is closed when the reader leaves early', async () => {
    const { answer, closed } = stall(beginning)
    const { url } = await wireServer(answer)
    for await (const _ of model(url).stream(request())) break
    await closed
  })

  it('is closed when the call fails at an error event', async () => {
    const { answer, closed } = stall(`${beginning}data: nonsense\n\n`)
    const { url } = await wireServer(answer)
    await failureOf(model(url))
    await closed
  })

  it('is used again after an answer that was read to its end', async () => {
    const { url, sockets } = await wireServer(sse(events.join('')))
    for (let call = 0; call < 8; call++) await collect(model(url))
    // Two, since the first may still be closing its books when the second call starts.
    expect(sockets()).toBeLessThanOrEqual(2)
  })

  it('is never opened for a signal that is aborted already', async () => {
    const { url, requests } = await wireServer(sse(events.join('')))
    expect(await failureOf(model(url), { signal: AbortSignal.abort() })).toMatchObject({ name: 'AbortError' })
    expect(requests).toHaveLength(0)
  })

  it.each([401, 500])('does not show the key in the error of a %i', async (code) => {
    const { url, requests } = await wireServer(status(code, '{"error":{"message":"no"}}'))
    const error = (await failureOf(model(url))) as Error
    expect(JSON.stringify(requests[0]!.headers)).toContain(apiKey)
    expect([error.message, error.stack, JSON.stringify(error), String(error.cause)].join()).not.toContain(apiKey)
  })
})
