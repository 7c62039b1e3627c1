import { type Clock, isAlliumError, type Logger } from '@allium/core'
import { nativeErrorFormat } from '../http/error-formats.ts'
import { type Problem, problemOf } from '../http/problem.ts'
import type { Ctx } from './caller.ts'

/** Returns the response to a problem, in the error format of the path's protocol. A path outside `base` gets the native format. */
function errorResponse(c: Ctx, problem: Problem): Response {
  const { status, retryAfter, allow } = problem
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfter / 1000)))
  if (allow !== undefined) headers.allow = allow
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  return new Response(JSON.stringify((c.get('shape') ?? nativeErrorFormat)(problem, c.get('requestId'))), {
    status,
    headers,
  })
}

/**
 * Wraps a handler. Problems that it throws or returns become responses in the format of its protocol, and faults of the server are logged.
 */
export function withErrorHandling({
  clock,
  logger,
}: {
  clock: Clock
  logger: Logger
}): (handler: (c: Ctx) => Promise<Response | Problem>) => (c: Ctx) => Promise<Response> {
  return (handler) => async (c) => {
    try {
      const answer = await handler(c)
      if (answer instanceof Response) return answer
      logProblem(c, answer, logger)
      return errorResponse(c, answer)
    } catch (error) {
      return errorResponseFor(c, error, { clock, logger })
    }
  }
}

/** Returns the response to an error that no handler caught. */
export function internalErrorResponse(error: unknown, { logger }: { logger: Logger }): Response {
  const requestId = crypto.randomUUID()
  logger.error('A request has failed.', { requestId, status: 500, code: 'server.failed', cause: errorName(error) })
  const { message } = problemOf(error, 0)
  return Response.json({ code: 'server.failed', message, requestId }, { status: 500 })
}

/** Returns the response to a thrown error. Faults of the server are logged without the content of messages. */
export function errorResponseFor(
  c: Ctx,
  error: unknown,
  { clock, logger }: { clock: Clock; logger: Logger },
): Response {
  const problem = problemOf(error, clock.now())
  logProblem(c, problem, logger, isAlliumError(error) ? error.code : errorName(error))
  return errorResponse(c, problem)
}

function logProblem(c: Ctx, { status, code }: Problem, logger: Logger, cause: string = code): void {
  const requestId = c.get('requestId')
  if (status === 421) logger.warn('A request was rejected because its host is not in `hosts`.', { requestId })
  if (status < 500) return
  logger.error('A request has failed.', { requestId, status, code, cause })
}

/** Returns only the class name, because the message of an error may contain user data. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}
