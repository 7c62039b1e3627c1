import { AlliumError } from '../errors/allium-error.ts'
import { lineOf } from '../errors/call-site.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { type Attempt, isOpen } from './attempt.ts'

/** Returns the error for a next() call that breaks the rules. */
export function misuse(attempt: Attempt): AlliumError {
  if (attempt.$exited)
    return layerError(attempt, 'layer.next_late', 'called next() after it returned. Call it earlier, and await it.')
  if (attempt.$inner !== undefined && isOpen(attempt.$inner))
    return layerError(attempt, 'layer.next_running', 'called next() while its last next() was still running. Await it.')
  const { reentrant, scope } = attempt.$call.ring
  const fix = reentrant
    ? 'To call it again after a success, declare "reenters: true".'
    : `The ${scope} scope is entered once, so keep its first result.`
  return layerError(attempt, 'layer.next_twice', `called next() twice. ${fix}`)
}

export function floating(attempt: Attempt): AlliumError {
  const what = 'returned while its next() was still running. Write "await next()" or "return next()".'
  return layerError(attempt, 'layer.floating_next', what)
}

export function abandonedError(attempt: Attempt): AlliumError {
  const what = 'continued after its call was abandoned. Stop when ctx.signal aborts.'
  return layerError(attempt, 'layer.abandoned', what)
}

/** Returns an error that names the layer and its scope, then the mistake and the fix. */
export function layerError(attempt: Attempt, code: ErrorCode, what: string, cause?: unknown): AlliumError {
  const { scope } = attempt.$call.ring
  const layer = attempt.$hook?.name ?? 'core'
  const error = new AlliumError(code, `Layer "${layer}" (${scope}) ${what}`, { details: { layer, scope }, cause })
  // The stack has no frame of the layer: it has returned already, or the onion called it.
  const line = lineOf(attempt.$hook?.callSite)
  if (line !== undefined) error.stack = `${error.stack}\n  where "${layer}" was given to use():\n${line}`
  return error
}
