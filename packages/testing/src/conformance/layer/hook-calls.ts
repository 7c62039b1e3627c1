import type { AnyMiddleware, HookInfo, HookRun, Middleware } from '@allium/core'

/** One call of a hook of the layer under test. */
export interface HookCall {
  readonly scope: string
  readonly turnId: string
  /** The last rejection of its next(); undefined if it resolved or was not called. */
  nextError: { error: unknown } | undefined
  /** How the hook ended; undefined while it runs. */
  end: { threw: unknown } | 'returned' | undefined
}

/** Returns a layer that observes every hook call of another layer from directly around it. */
export function watchLayer(watched: AnyMiddleware, calls: HookCall[]): Middleware {
  return { name: 'test:watch', wrapHooks: (hook) => (hook.layer === watched.name ? watchHook(hook, calls) : hook.run) }
}

function watchHook({ scope, run }: HookInfo, calls: HookCall[]): HookRun {
  return (ctx, next) => {
    const call: HookCall = { scope, turnId: (ctx as { turnId: string }).turnId, nextError: undefined, end: undefined }
    calls.push(call)
    const inward: typeof next = (options) => {
      call.nextError = undefined
      const running = next(options)
      running.catch((error) => (call.nextError = { error }))
      return running
    }
    try {
      const returnValue = run(ctx, inward)
      return isThenable(returnValue) ? watchEnd(returnValue, call) : recordReturn(returnValue, call)
    } catch (error) {
      call.end = { threw: error }
      throw error
    }
  }
}

async function watchEnd(returnValue: PromiseLike<unknown>, call: HookCall): Promise<unknown> {
  try {
    return recordReturn(await returnValue, call)
  } catch (error) {
    call.end = { threw: error }
    throw error
  }
}

function recordReturn(value: unknown, call: HookCall): unknown {
  call.end = 'returned'
  return value
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
