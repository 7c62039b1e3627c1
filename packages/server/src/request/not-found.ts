import type { AlliumError } from '@allium/core'
import { requestError } from '../http/problem.ts'
import type { ServerOptions } from '../options/options.ts'

/** Paths that are served only with an option of the server. */
const optionalPaths: readonly (readonly [RegExp, keyof ServerOptions, string])[] = [
  [/^(\/agents\/[^/]+)?\/chat(\/|$)/, 'uiStream', '`uiStream: 7`, or 6, for pages of the AI SDK'],
  [/^(\/agents\/[^/]+)?\/agui$/, 'agui', '`agui: true`, for clients of AG-UI'],
  [/^\/v1(\/|$)/, 'openai', "`openai: true`, for clients of OpenAI's API"],
  [/^\/mcp$/, 'mcp', '`mcp: true`, for clients of MCP'],
  [/^\/metrics$/, 'metrics', '`metrics: { token }`'],
]

/** Returns the error for a path that is not served. It names the option that serves the path, if there is one. */
export function pathNotFound(path: string, options: ServerOptions): AlliumError {
  const found = optionalPaths.find(([pattern, option]) => pattern.test(path) && !options[option])
  if (found === undefined) return routeNotFound()
  return requestError('route.not_found', `This path is not enabled. Set this option of server(): ${found[2]}.`)
}

/** Returns the error for an agent or a path that the caller may not use. It says the same as for one that does not exist. */
export function routeNotFound(): AlliumError {
  return requestError('route.not_found', 'There is no such path, or no such agent.')
}

/** Returns the error for a session that does not exist, or that the caller may not see. */
export function sessionNotFound(sessionId: string): AlliumError {
  return requestError('session.not_found', `There is no session ${JSON.stringify(sessionId)}.`)
}
