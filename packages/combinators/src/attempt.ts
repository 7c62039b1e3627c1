import { isBlockError } from '@allium/core'
import { hasEnded } from '@allium/core/internal'
import type { AnyContext } from './combine.ts'

/** The key under which a shadow's context stores the attempt that it represents. */
export const attemptSymbol = Symbol('attempt')

/** Returns the attempt of a context; a shadow's context represents one. */
export function attemptOf(ctx: AnyContext): object {
  return (ctx as { [attemptSymbol]?: object })[attemptSymbol] ?? ctx
}

/** Whether an error ends the run or this call, and is therefore not a failure of the layer that it passes. */
export function endsRun(ctx: AnyContext, error: unknown): boolean {
  if (isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError') return true
  return hasEnded(attemptOf(ctx))
}
