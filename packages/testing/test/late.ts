import { delay, type Middleware, type ModelContext, type NextOptions, type ToolContext } from '@allium/core'

type Ctx = ModelContext | ToolContext
type Next = (options?: NextOptions) => Promise<unknown>

/** Leaves its first call after so many milliseconds, and calls again: what a retry around a timeout does. */
export function leaves(ms: number): Middleware {
  return inBoth('leaves', async (ctx, next) => {
    const late = new AbortController()
    const stop = ctx.clock.after(ms, () => late.abort(new Error('too late')))
    try {
      return await next({ signal: late.signal })
    } catch (error) {
      if (!late.signal.aborted) throw error
      return next()
    } finally {
      stop()
    }
  })
}

/** The same, by a layer that walks out of its running call: no signal tells of it. */
export function walksOut(ms: number): Middleware[] {
  const again = inBoth('again', (_, next) => next().catch(() => next()))
  const walks = inBoth('walks out', (ctx, next) => {
    if (ctx.attempt > 1) return next()
    const late = new Promise((_, reject) => ctx.clock.after(ms, () => reject(new Error('walked out'))))
    return Promise.race([next(), late])
  })
  return [again, walks]
}

/** Takes so many milliseconds to come back where its first call failed, or was left. */
export function lingers(ms: number): Middleware {
  return inBoth('lingers', async (ctx, next) => {
    try {
      return await next()
    } catch (error) {
      if (ctx.attempt === 1) await delay(ms, ctx.clock, new AbortController().signal)
      throw error
    }
  })
}

function inBoth(name: string, run: (ctx: Ctx, next: Next) => Promise<unknown>): Middleware {
  return { name, model: run, tool: run } as Middleware
}
