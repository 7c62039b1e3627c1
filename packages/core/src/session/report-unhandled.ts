import { isAlliumError } from '../errors/allium-error.ts'
import { cleanMessageOf } from '../errors/describe.ts'
import { fieldOf } from '../errors/field-of.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { LiveRun } from './live-run.ts'

/**
 * Logs a failed run if it is not awaited or read by the next macrotask, like Node does for promises. The error and its
 * cause may contain secrets, so only their class, code and cleaned message are logged, never a stack.
 */
export function reportUnhandled(run: LiveRun, error: unknown, { id, agent }: SessionScope): void {
  if (run.isObserved || fieldOf(error, 'name') === 'AbortError') return
  const { turnId } = run.partial
  setTimeout(() => {
    if (run.isObserved) return
    const what = kindOf(error)
    const cause = error instanceof Error ? fieldOf(error, 'cause') : undefined
    agent.setup.logger.error(
      `A run of the session "${id}" failed (${what}), and nobody awaits it or reads its events. Await it, or listen with agent.on('error').`,
      {
        sessionId: id,
        ...(turnId !== undefined && { turnId }),
        failure: what,
        message: cleanMessageOf(error),
        ...(cause !== undefined && { cause: `${kindOf(cause)}: ${cleanMessageOf(cause)}` }),
      },
    )
  }, 0)
}

function kindOf(error: unknown): string {
  if (isAlliumError(error)) return error.code
  return error instanceof Error ? String(fieldOf(error, 'name') ?? 'Error') : typeof error
}
