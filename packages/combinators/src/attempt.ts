import { isBlockError } from '@allium/core'
import { hasEnded } from '@allium/core/internal'
import type { AnyContext } from './combine.ts'

/** Whether an error ends the run or this call, and is therefore not a failure of the layer that it passes. */
export function endsRun(ctx: AnyContext, error: unknown): boolean {
  if (isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError') return true
  return hasEnded(ctx)
}
