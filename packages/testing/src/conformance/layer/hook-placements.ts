import type {
  AnyMiddleware,
  Middleware,
  ModelContext,
  ModelResponse,
  ToolContext,
  ToolResult,
  TurnContext,
} from '@allium/core'
import { macrotask } from './unhandled.ts'

export type CallScope = 'turn' | 'model' | 'tool'
export const callScopes: readonly CallScope[] = ['turn', 'model', 'tool']

// biome-ignore lint/suspicious/noExplicitAny: one function stands in three scopes, and gives on what its next() gave
type Hook = (ctx: TurnContext & ModelContext & ToolContext, next: () => Promise<any>) => any

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
      const response: ModelResponse | ToolResult | undefined = await next()
      await macrotask()
      await act(ctx)
      return response
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
