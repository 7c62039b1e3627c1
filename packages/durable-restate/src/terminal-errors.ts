import { type AlliumError, isAlliumError } from '@allium/core'
import { TerminalError } from '@restatedev/restate-sdk'

const terminalCodes = /^(agent|approval|history|journal|layer|message|request|run|session|state|steer)\./

/** Returns whether Allium rejects the call by design. Every retry would fail with the same error, and Restate would retry forever. */
export function isTerminal(error: unknown): error is AlliumError {
  return isAlliumError(error) && terminalCodes.test(error.code) && !isTransient(error)
}

/** Returns whether a retry can succeed: the lease of a lost process expires, or an unavailable store comes back. */
export function isTransient(error: unknown): boolean {
  return isAlliumError(error) && ['session.busy', 'store.unavailable', 'store.fenced'].includes(error.code)
}

/** Returns an error for Restate. A terminal one becomes a TerminalError with its code. */
export function toRestateError(error: unknown): unknown {
  if (!isTerminal(error)) return error
  return new TerminalError(JSON.stringify({ code: error.code, message: error.message }), { errorCode: 400 })
}
