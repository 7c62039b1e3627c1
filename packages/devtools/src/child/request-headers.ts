import { AsyncLocalStorage } from 'node:async_hooks'
import { contextHeader, principalHeader } from '../messages.ts'
import type { DevAgent } from './load-agent.ts'

/** The principal of requests that name none, if the agent's module exports none. */
export const developer = { userId: 'developer' }

/** Returns the principal that the request names as JSON. Invalid JSON names none, so the server answers 401. */
export function principalOf({ headers }: Request): unknown {
  return jsonOf(headers.get(principalHeader))
}

/**
 * Gives each session that a request opens the runtime context of the request. A server reads only the principal from requests, because a
 * client must not choose the context.
 */
export function withRequestContext(
  agent: DevAgent,
): (request: Request, next: () => Promise<Response>) => Promise<Response> {
  const contexts = new AsyncLocalStorage<unknown>()
  const { session } = agent
  Object.assign(agent, {
    session(options: object = {}) {
      const context = contexts.getStore()
      return session.call(agent, (context === undefined ? options : { ...options, context }) as never)
    },
  })
  return async (request, next) => {
    try {
      const context = jsonOf(request.headers.get(contextHeader))
      return await contexts.run(context, next)
    } catch {
      const message = `The header ${contextHeader} is not URL-encoded JSON.`
      return Response.json({ code: 'request.invalid', message }, { status: 400 })
    }
  }
}

function jsonOf(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(decodeURIComponent(text))
}
