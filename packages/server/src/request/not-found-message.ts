import type { ServerOptions } from '../options/options.ts'

/** Paths that are served only with an option of the server. */
const optionalPaths: readonly (readonly [RegExp, keyof ServerOptions, string])[] = [
  [/^(\/agents\/[^/]+)?\/chat(\/|$)/, 'uiStream', '`uiStream: 7`, or 6, for pages of the AI SDK'],
  [/^(\/agents\/[^/]+)?\/agui$/, 'agui', '`agui: true`, for clients of AG-UI'],
  [/^\/v1(\/|$)/, 'openai', "`openai: true`, for clients of OpenAI's API"],
  [/^\/mcp$/, 'mcp', '`mcp: true`, for clients of MCP'],
  [/^\/metrics$/, 'metrics', '`metrics: { token }`'],
]

/** Returns why a path was not found. */
export function notFoundMessage(path: string, options: ServerOptions): string {
  const found = optionalPaths.find(([pattern, option]) => pattern.test(path) && !options[option])
  if (found === undefined) return 'There is no such path, or no such agent.'
  return `This path is not enabled. Set this option of server(): ${found[2]}.`
}
