import { type AlliumError, isAlliumError } from '@allium/core'
import { TerminalError } from '@restatedev/restate-sdk'

const terminalCodes = /^(agent|approval|history|journal|layer|message|request|run|session|state|steer)\./

/** What Allium refuses by design is refused each time it is asked: Restate would ask for ever. */
export function isTerminal(error: unknown): error is AlliumError {
  return isAlliumError(error) && terminalCodes.test(error.code) && !isTransient(error)
}

/** The lease of a process that died runs out, a store that is away comes back. */
export function isTransient(error: unknown): boolean {
  return isAlliumError(error) && ['session.busy', 'store.unavailable', 'store.fenced'].includes(error.code)
}

/** An error as Restate is told it: a refusal is final, with its code in it. */
export function toRestateError(error: unknown): unknown {
  if (!isTerminal(error)) return error
  return new TerminalError(JSON.stringify({ code: error.code, message: error.message }), { errorCode: 400 })
}
