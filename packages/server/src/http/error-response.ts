import { type Clock, isAlliumError, type Logger } from '@allium/core'
import type { Ctx } from '../request/caller.ts'
import { nativeErrorFormat } from './error-formats.ts'
import { type Problem, problemOf } from './problem.ts'

/** The answer to what was refused, in the shape of the path's protocol. Outside of `base` a path has none. */
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

/** A handler whose refusals, thrown or given, are told in the shape of its protocol; a fault of the server gets a line in its log. */
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

/** For what no handler has met. */
export function internalErrorResponse(error: unknown, { logger }: { logger: Logger }): Response {
  const requestId = crypto.randomUUID()
  logger.error('A request has failed.', { requestId, status: 500, code: 'server.failed', cause: errorName(error) })
  const { message } = problemOf(error, 0)
  return Response.json({ code: 'server.failed', message, requestId }, { status: 500 })
}

/** The same for what was thrown; a fault of the server gets a line in its log, without what was said. */
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
  if (status === 421) logger.warn('A request named a host that is not among `hosts`: it was refused.', { requestId })
  if (status < 500) return
  logger.error('A request has failed.', { requestId, status, code, cause })
}

/** The class alone: a message may hold what was said. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}
