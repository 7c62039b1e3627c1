import { hasEnded, isBlockError } from '@allium/core'
import type { AnyContext } from './combine.ts'

/** By this key the context of a shadow gives the attempt that it stands for. */
export const attemptSymbol = Symbol('attempt')

/** The attempt behind a context: a shadow's stands for one. */
export function attemptOf(ctx: AnyContext): object {
  return (ctx as { [attemptSymbol]?: object })[attemptSymbol] ?? ctx
}

/** Whether an error ends the run or this call, and so is no failure of the layer that it passes. */
export function endsRun(ctx: AnyContext, error: unknown): boolean {
  if (isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError') return true
  return hasEnded(attemptOf(ctx))
}
