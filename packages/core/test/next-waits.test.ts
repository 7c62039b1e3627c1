import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { build, failure, gate, rest, settled, tool, turn } from './kit.ts'

/** A layer whose onInput waits at a gate. What its hook does meanwhile is told to `act`. */
function waiting(
  act: (next: (options?: { signal: AbortSignal }) => Promise<unknown>, open: () => void) => Promise<unknown>,
): Middleware {
  const input = gate()
  return {
    name: 'waits',
    async turn(ctx, next) {
      ctx.onInput(async (message) => {
        await input.promise
        return message
      })
      await act(next as never, () => input.open())
    },
  }
}

describe('a next() that waits for the input', () => {
  it('is the only one: a second next() is an error, and the first one runs', async () => {
    const errors: unknown[] = []
    const layer = waiting(async (next, open) => {
      const first = next()
      const second = failure(next())
      open()
      errors.push((await second).code)
      await first
    })
    const { model } = await turn(['hi', 'spare'], [layer])
    expect([errors, model.calls]).toEqual([['layer.next_running'], 1])
  })

  it('rejects with the reason of a signal that aborts meanwhile, and no model is asked', async () => {
    const controller = new AbortController()
    let error: unknown
    const layer = waiting(async (next, open) => {
      const running = next({ signal: controller.signal })
      controller.abort('changed my mind')
      open()
      await running.catch((reason: unknown) => (error = reason))
    })
    const { model } = await turn([], [layer])
    expect([error, model.calls]).toEqual(['changed my mind', 0])
  })

  it('rejects when its layer has returned meanwhile, as if it had not been called', async () => {
    let late: Promise<{ code: string }> | undefined
    const layer = waiting(async (next, open) => {
      late = failure(next())
      setTimeout(open, 0)
    })
    const { result, model } = await turn(['hi'], [layer])
    expect([(await late)?.code, result?.text ?? '', model.calls]).toEqual(['layer.no_next', '', 0])
  })

  it('rejects with the end of the run that was aborted meanwhile', async () => {
    let seen: Promise<{ name: string }> | undefined
    const started = gate()
    const layer = waiting(async (next, open) => {
      seen = failure(next())
      started.open()
      await rest()
      open()
      await seen
    })
    const { agent, model } = build(['hi'], [layer])
    const run = agent.session().run('hi')
    await started.promise
    run.abort('enough')
    await settled(run)
    expect([(await seen)?.name, model.calls]).toEqual(['AbortError', 0])
  })
})

describe('next() with a signal', () => {
  it('that was aborted before runs nothing inside, with the reason of the signal', async () => {
    const reasons: unknown[] = []
    const layer: Middleware = {
      name: 'narrow',
      async model(_, next) {
        await next({ signal: AbortSignal.abort('before') }).catch((reason: unknown) => reasons.push(reason))
        return 'instead'
      },
    }
    const { model, result } = await turn([], [layer])
    expect([reasons, model.calls, result?.text]).toEqual([['before'], 0, 'instead'])
  })

  it('does not listen to the signal any more once it has settled', async () => {
    const { signal } = new AbortController()
    const listeners = new Set<unknown>()
    const { addEventListener, removeEventListener } = signal
    Object.assign(signal, {
      addEventListener(...of: Parameters<typeof addEventListener>) {
        if (of[0] === 'abort') listeners.add(of[1])
        addEventListener.apply(signal, of)
      },
      removeEventListener(...of: Parameters<typeof removeEventListener>) {
        if (of[0] === 'abort') listeners.delete(of[1])
        removeEventListener.apply(signal, of)
      },
    })
    const layer: Middleware = { name: 'narrow', tool: (_, next) => next({ signal }) }
    await turn([{ toolCalls: [{ name: 'work' }] }, 'done'], [layer], { tools: [tool('work')] })
    await turn([{ toolCalls: [{ name: 'work' }] }, 'done'], [layer], { tools: [tool('work', rest)] })
    expect(listeners.size).toBe(0)
  })

  it.each([
    ['signals', 'Did you mean "signal"?'],
    ['timeout', 'next()'],
  ])('takes no option %s', async (name, text) => {
    let error: Error | undefined
    const layer: Middleware = {
      name: 'typo',
      async model(_, next) {
        error = await failure(() => next({ [name]: 1 } as never))
        return 'instead'
      },
    }
    await turn([], [layer])
    expect([(error as { code?: string }).code, error?.message.includes(text)]).toEqual(['layer.invalid', true])
  })
})
