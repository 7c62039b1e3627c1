import { describe, expect, it, vi } from 'vitest'
import type { Logger, Middleware } from '../src/index.ts'
import { oneCall, rest, tool, turn } from './kit.ts'

const fields = [
  'stack',
  'message',
  'name',
  'cause',
  'errors',
  'code',
  'expose',
  'toString',
  Symbol.toPrimitive,
] as const
const trap = () => {
  throw new Error('from the getter')
}
const hostile = (field: PropertyKey) => Object.defineProperty(new Error('mine'), field, { get: trap })
const throws = (error: unknown) =>
  tool('work', () => {
    throw error
  })

describe('a logger fails no run', () => {
  it.each(fields)('where the default logger prints an error whose %s throws', async (field) => {
    const printed = vi.spyOn(console, 'warn').mockImplementation((_, details) => {
      if (details !== undefined) void `${(details as { error: Error }).error[field as 'stack']}`
    })
    const { result, error } = await turn(oneCall, [], { tools: [throws(hostile(field))], logger: undefined as never })
    expect([error, result?.status, result?.text]).toEqual([undefined, 'completed', 'done'])
    expect(String(printed.mock.calls.at(-1)?.[0])).toContain('The tool "work" failed')
    printed.mockRestore()
  })

  it('where the console itself cannot print it', async () => {
    const { error, result } = await turn(oneCall, [], {
      tools: [throws(hostile('stack'))],
      logger: undefined as never,
    })
    expect([error, result?.text]).toEqual([undefined, 'done'])
  })

  it.each<[string, () => unknown]>([
    ['throws', trap],
    ['rejects', () => Promise.reject(new Error('the disk is full'))],
  ])('where one that the user gave %s', async (_, fails) => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const logger = { warn: fails, error: fails, debug: fails } as Logger
    const defers: Middleware = {
      name: 'defers',
      turn(ctx, next) {
        ctx.logger.debug?.('before')
        ctx.defer(Promise.reject(new Error('deferred')))
        return next()
      },
    }
    const { result, error } = await turn(oneCall, [defers], { tools: [throws(new Error('mine'))], logger })
    await rest()
    process.off('unhandledRejection', unhandled)
    expect([error, result?.text, unhandled.mock.calls]).toEqual([undefined, 'done', []])
  })

  it('and one without debug stays without', async () => {
    let debug: unknown = 'unread'
    const reads: Middleware = {
      name: 'reads',
      turn(ctx, next) {
        debug = ctx.logger.debug
        return next()
      },
    }
    await turn(['hi'], [reads])
    expect(debug).toBeUndefined()
  })

  it('keeps a method its object: what the logger holds as this', async () => {
    class Lines {
      readonly #lines: string[] = []
      warn(message: string): void {
        this.#lines.push(message)
      }
      error(message: string): void {
        this.#lines.push(message)
      }
      get count(): number {
        return this.#lines.length
      }
    }
    const logger = new Lines()
    await turn(oneCall, [], { tools: [throws(new Error('mine'))], logger })
    expect(logger.count).toBe(1)
  })

  it.each(fields)('and a layer that lets through an error whose %s throws ends the turn with it', async (field) => {
    const error = hostile(field)
    const bad: Middleware = {
      name: 'bad',
      async turn(_, next) {
        try {
          await next()
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: that is what is tried
          throw error
        }
      },
      async model() {
        throw error
      },
    }
    expect((await turn(['hi'], [bad])).error).toBe(error)
  })
})
