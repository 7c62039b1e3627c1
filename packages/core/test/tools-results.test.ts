import { describe, expect, it } from 'vitest'
import { type Middleware, toolResult } from '../src/index.ts'
import { nested, oddResults, oddThrows, unwritable } from './hostile.ts'
import { oneCall, reach, results, tool, turn } from './kit.ts'

const returning = (execute: () => unknown, layers: Middleware[] = []) =>
  turn(oneCall, layers, { tools: [tool('work', execute)] })

describe('tool results', () => {
  it.each(oddResults)('%s reaches the model as a text that is always the same', async (_, value, text) => {
    const { model, result } = await returning(() => value)
    expect(results(model.requests[1]!.messages).c1).toBe(text)
    expect(result?.toolCalls[0]?.result).toMatchObject({ status: 'ok', content: text })
    expect(result?.toolCalls[0]?.result.value).toBe(value)
  })

  it.each(unwritable)('%s is an error result without what was thrown', async (_, make) => {
    const { model, result, events, session } = await returning(make)
    expect(result).toMatchObject({
      status: 'completed',
      toolCalls: [{ result: { status: 'error', content: 'The tool "work" failed.' } }],
    })
    expect(reach([model.requests[1]!.messages, events, session.history])).not.toContain('SECRET-TOKEN')
  })

  it.each(oddThrows)('%s thrown is an error result without what was thrown', async (_, thrown) => {
    const { model, result, events, session } = await returning(() => {
      throw thrown
    })
    const { result: outcome } = result!.toolCalls[0]!
    expect(outcome).toMatchObject({ status: 'error', isError: true, content: 'The tool "work" failed.' })
    expect(outcome.error).toBeDefined()
    expect(reach([model.requests[1]!.messages, events, session.history])).not.toContain('SECRET-TOKEN')
  })

  it('keep what was thrown for layers, observers and the log', async () => {
    const error = new Error('SECRET-TOKEN')
    const seen: unknown[] = []
    const watcher: Middleware = {
      name: 'watcher',
      async tool(_, next) {
        const result = await next()
        seen.push(result.error)
        return result
      },
    }
    const { log } = await returning(() => Promise.reject(error), [watcher])
    expect(seen).toEqual([error])
    expect(log).toMatchObject([{ details: { error, callId: 'c1' } }])
  })

  it('tell the model the message of an error that exposes itself', async () => {
    const { model } = await returning(() => {
      throw Object.assign(new Error('No such order.'), { expose: true })
    })
    expect(results(model.requests[1]!.messages).c1).toBe('No such order.')
  })

  it('of 200,000 levels become a text and do not overflow', async () => {
    const { result } = await returning(() => nested(200_000))
    expect(result?.status).toBe('completed')
    expect(result?.toolCalls[0]?.result.content).toContain('[too deep]')
  })

  it('of 50 MB pass through', async () => {
    const big = 'x'.repeat(50_000_000)
    const { result, session } = await returning(() => big)
    expect(result?.status).toBe('completed')
    expect(results(session.history).c1).toHaveLength(50_000_000)
  })

  it('of toolResult() carry parts and the error flag', async () => {
    const image = { type: 'image' as const, data: new Uint8Array([1, 2]), mediaType: 'image/png' }
    const { model, events } = await returning(() =>
      toolResult({ content: [{ type: 'text', text: 'see ' }, image], isError: true }),
    )
    expect(results(model.requests[1]!.messages).c1).toEqual([{ type: 'text', text: 'see ' }, image])
    expect(events.find(({ type }) => type === 'tool:end')).toMatchObject({
      status: 'error',
      isError: true,
      content: 'see \n[image]',
    })
  })

  it('of several texts keep them apart, in the history and in events', async () => {
    const texts = ['invoice 1', '2 items'].map((text) => ({ type: 'text' as const, text }))
    const { session, events } = await returning(() => toolResult({ content: texts }))
    expect(results(session.history).c1).toEqual(texts)
    expect(events.find(({ type }) => type === 'tool:end')).toMatchObject({ content: 'invoice 1\n2 items' })
  })

  it('may be replaced by a layer, with a text or with content', async () => {
    const text = await returning(
      () => 'raw',
      [
        {
          name: 'masker',
          async tool(_, next) {
            await next()
            return 'masked'
          },
        },
      ],
    )
    expect(results(text.session.history).c1).toBe('masked')
    const flagged = await returning(
      () => 'raw',
      [
        {
          name: 'masker',
          async tool(_, next) {
            const result = await next()
            return { ...result, content: 'bad', isError: true }
          },
        },
      ],
    )
    expect(flagged.session.history[2]?.content).toEqual([
      { type: 'tool-result', callId: 'c1', name: 'work', content: 'bad', isError: true },
    ])
  })

  it('cannot be moved to another call by a layer', async () => {
    const mover: Middleware = {
      name: 'mover',
      async tool(_, next) {
        return { ...(await next()), callId: 'other' }
      },
    }
    const { session } = await returning(() => 'ok', [mover])
    expect(results(session.history)).toEqual({ c1: 'ok' })
  })

  it('that a layer keeps and changes later do not reach the history', async () => {
    const kept: { content: unknown }[] = []
    const keeper: Middleware = {
      name: 'keeper',
      async tool(_, next) {
        const result = { ...(await next()), content: [{ type: 'text' as const, text: 'ok' }] }
        kept.push(result)
        return result
      },
    }
    const { session } = await returning(() => 'ok', [keeper])
    try {
      ;(kept[0]!.content as { text: string }[])[0]!.text = 'forged'
    } catch {}
    expect(results(session.history).c1).toEqual([{ type: 'text', text: 'ok' }])
  })

  it('give execute its place in the run', async () => {
    let seen: unknown
    const tools = [
      tool('work', (_, ctx) => {
        const { callId, attempt, sessionId, turnId, principal, context, signal } = ctx
        ctx.state.ran = true
        ctx.emit({ type: 'test:progress', percent: 50 })
        seen = [callId, attempt, sessionId, typeof turnId, principal, context, signal.aborted]
      }),
    ]
    const layer: Middleware = { name: 'declares', state: { ran: { default: false } } }
    const { events, result } = await turn(oneCall, [layer], { tools, of: { id: 's', principal: 'p', context: 'c' } })
    expect(seen).toEqual(['c1', 1, 's', 'string', 'p', 'c', false])
    expect(events).toContainEqual(expect.objectContaining({ type: 'test:progress', percent: 50 }))
    expect(result?.state.ran).toBe(true)
  })
})
