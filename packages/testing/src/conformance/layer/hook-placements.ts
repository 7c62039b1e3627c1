import type { AnyMiddleware, Middleware, ModelContext, ToolContext, TurnContext } from '@allium/core'
import { macrotask } from './unhandled.ts'

export type CallScope = 'turn' | 'model' | 'tool'
export const callScopes: readonly CallScope[] = ['turn', 'model', 'tool']

/** A hook of any of the three scopes, which returns what its next() returned or a value of its own. */
type Hook = (ctx: TurnContext & ModelContext & ToolContext, next: () => Promise<unknown>) => unknown

/** Returns a layer of the suite with one hook. Inside an innermost layer it is innermost too. */
export function at(scope: CallScope, layer: AnyMiddleware | undefined, hook: Hook): Middleware {
  return {
    name: `test:${layer === undefined ? 'outside' : 'inside'}`,
    innermost: layer?.innermost === true,
    [scope]: hook,
  }
}

/** The hooks by placement. */
export interface HookPlacements {
  /** One hook for each placement at which something can go wrong. */
  [place: string]: Hook
}

/** Returns hooks that act before next(), before it with a delay, or after it. */
export function hookPlacements(act: (ctx: Parameters<Hook>[0]) => unknown): HookPlacements {
  return {
    'at once': async (ctx, next) => {
      await act(ctx)
      return next()
    },
    later: async (ctx, next) => {
      await macrotask()
      await act(ctx)
      return next()
    },
    'on the way out': async (ctx, next) => {
      const answer = await next()
      await macrotask()
      await act(ctx)
      return answer
    },
  }
}

/** Waits until the signal aborts, and rejects with its reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
