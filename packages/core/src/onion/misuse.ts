import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { type Frame, Phase } from './next.ts'

/** The error for a next() that the rules do not allow. */
export function misuse(frame: Frame): AlliumError {
  if (frame.exited)
    return layerError(frame, 'layer.next_late', 'called next() after it had returned. Call it before, and await it.')
  if (frame.phase === Phase.running)
    return layerError(frame, 'layer.next_running', 'called next() while its last next() was still running. Await it.')
  const { reentrant, scope } = frame.passage
  const mend = reentrant
    ? 'To run the inside again after a success, declare "reenters: true"; after a failure it is allowed.'
    : `The ${scope} scope is entered once.`
  return layerError(frame, 'layer.next_twice', `called next() twice. ${mend}`)
}

export function floating(frame: Frame): AlliumError {
  const what = 'returned while its next() was still running. Write "await next()" or "return next()".'
  return layerError(frame, 'layer.floating_next', what)
}

export function leftBehind(frame: Frame): AlliumError {
  const what = 'went on after a layer outside it had left the call. Stop when ctx.signal aborts.'
  return layerError(frame, 'layer.left', what)
}

/** An error that names a layer and its scope, then says what it did and the mend. */
export function layerError(frame: Frame, code: ErrorCode, what: string, cause?: unknown): AlliumError {
  const { hook, passage } = frame
  const details = { layer: hook.name, scope: passage.scope }
  return new AlliumError(code, `Layer "${hook.name}" (${passage.scope}) ${what}`, { details, cause })
}
