import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../http/problem.ts'
import { shapeOf } from '../http/shapes.ts'
import type { Server } from '../server.ts'
import { toNode } from './serve.ts'

/**
 * The server as a route of Fastify: `fastify.all('/*', toFastify(app))`. Hooks of Fastify run before it. Fastify reads the bodies, as long
 * as the server takes them; what it refuses in one has the form of the server's own errors.
 */
export function toFastify(server: Pick<Server, 'fetch' | 'maxBody'>): FastifyRoute {
  const handle = toNode(server)
  return {
    bodyLimit: server.maxBody,
    handler(request, reply) {
      reply.hijack()
      handle(Object.assign(request.raw, { body: request.body }), reply.raw)
    },
    errorHandler(error, request, reply) {
      const problem = problemOf(error, server.maxBody)
      // Of a hook: it is for the error handler around this route.
      if (problem === undefined) throw error
      const shape = shapeOf(new URL(request.raw.url ?? '/', 'http://localhost').pathname)
      reply.code(problem.status).send(shape(problem, crypto.randomUUID()))
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
  code(status: number): { send(body: unknown): unknown }
}

/** What Fastify found wrong with a body. */
function problemOf(error: unknown, maxBody: number): Problem | undefined {
  const { code } = (typeof error === 'object' && error !== null ? error : {}) as { code?: unknown }
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_CTP_')) return undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return { status: 413, code: 'request.too_large', message: `A body has at most ${maxBody} bytes.` }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return { status: 415, code: 'request.media_type', message: 'The body must be JSON in UTF-8.' }
  return { status: 400, code: 'request.invalid', message: 'The body is no JSON.' }
}
