import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from '../app/server.ts'
import { errorFormatOf } from '../http/error-formats.ts'
import type { Problem } from '../http/problem.ts'
import { toNode } from './serve.ts'

/**
 * Returns the server as a Fastify route: `fastify.all('/*', toFastify(app))`. Your Fastify hooks run first. Fastify reads the request
 * bodies, up to the limit of the server, and its parse errors have the format of the server's errors.
 */
export function toFastify(server: Pick<Server, 'fetch' | 'maxBodyBytes'>): FastifyRoute {
  const handle = toNode(server)
  return {
    bodyLimit: server.maxBodyBytes,
    handler(request, reply) {
      reply.hijack()
      handle(Object.assign(request.raw, { body: request.body }), reply.raw)
    },
    errorHandler(error, request, reply) {
      const problem = problemOf(error, server.maxBodyBytes)
      // An error of a user's hook belongs to the error handler of the application.
      if (problem === undefined) throw error
      // Fastify also routes targets that are no URL, such as `//`.
      const [path = ''] = (request.raw.url ?? '').split('?')
      const body = errorFormatOf(path)(problem, crypto.randomUUID())
      reply.code(problem.status).header('cache-control', 'no-store').send(body)
    },
  }
}

interface FastifyRoute {
  bodyLimit: number
  handler(request: FastifyRequest, reply: FastifyReply): void
  errorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply): void
}
interface FastifyRequest {
  readonly raw: IncomingMessage
  readonly body?: unknown
}
interface FastifyReply {
  readonly raw: ServerResponse
  hijack(): unknown
  code(status: number): FastifyReply
  header(name: string, value: string): FastifyReply
  send(body: unknown): unknown
}

/** Maps a parse error of Fastify. Returns undefined for any other error. */
function problemOf(error: unknown, maxBodyBytes: number): Problem | undefined {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_CTP_')) return undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return {
      status: 413,
      code: 'request.too_large',
      message: `The body is larger than the limit of ${maxBodyBytes} bytes.`,
    }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return { status: 415, code: 'request.media_type', message: 'The body must be JSON in UTF-8.' }
  return { status: 400, code: 'request.invalid', message: 'The body is not valid JSON.' }
}
