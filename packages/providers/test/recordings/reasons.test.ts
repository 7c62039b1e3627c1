import { Agent } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { isTransient } from '../../../shared/src/resilience.ts'
import { collect, failureOf, finishOf, textOf } from '../calls.ts'
import { partsModel } from './parts/model.ts'
import { emptyCalls, failures, wholes } from './parts/reasons.ts'
import { chat, counted, finish, finishV2, raw, text } from './parts/written.ts'

describe('a reason that reports a failure', () => {
  it.each(failures)('$reason of $provider fails the call', async ({ reason, unified = 'other', isRetryable }) => {
    const error = await failureOf(partsModel([...text, finish(unified, reason, counted)]))
    expect(error).toMatchObject({ code: 'model.failed', message: expect.stringContaining(`(${reason})`) })
    expect(error).toMatchObject({ details: { usage: { inputTokens: 20, outputTokens: 7 } } })
    expect(isTransient(error)).toBe(isRetryable)
  })

  it('is found in the event of a chat completion if its V2 package does not know it', async () => {
    const parts = [...text, raw(chat('error')), finishV2('unknown', 20)]
    expect(await failureOf(partsModel(parts, 'v2'))).toMatchObject({ code: 'model.failed', isRetryable: true })
  })
})

describe('a whole answer', () => {
  it.each(wholes)('$title, is complete', async ({ parts, specification = 'v4', provider, reason }) => {
    const chunks = await collect(partsModel(parts, specification, provider))
    expect(textOf(chunks)).toBe('Half')
    expect(finishOf(chunks).reason).toBe(reason)
  })

  it.each(emptyCalls)('with a call without arguments runs it with {}: $packages', async ({ parts, specification }) => {
    const ran: unknown[] = []
    const now = {
      name: 'now',
      description: 'Tells the time',
      jsonSchema: {},
      execute: (args: unknown) => ran.push(args),
    }
    await new Agent({ model: partsModel(parts, specification), tools: [now], maxSteps: 1 }).run('Hi').catch(() => {})
    expect(ran).toEqual([{}])
  })
})
