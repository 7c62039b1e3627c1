import type { Problem } from './problem.ts'

/** Formats a problem for a protocol. */
export type ErrorFormat = (problem: Problem, requestId: string) => object

/** Returns the error format that clients of a path expect, whether or not the path is served. */
export function errorFormatOf(path: string): ErrorFormat {
  if (/^\/v1\/responses(\/|$)/.test(path)) return responseError
  if (/^\/v1(\/|$)/.test(path)) return errorBody
  return path === '/mcp' ? jsonRpcErrorFormat : nativeErrorFormat
}

export function nativeErrorFormat({ code, message }: Problem, requestId: string): object {
  return { code, message, requestId }
}

function jsonRpcErrorFormat({ code, message }: Problem): object {
  return { jsonrpc: '2.0', id: null, error: { code: -32_000, message, data: { code } } }
}

/** Returns a problem in the error format of OpenAI's API: https://platform.openai.com/docs/guides/error-codes */
export function errorBody({ status, code, message, field }: Pick<Problem, 'status' | 'code' | 'message' | 'field'>): {
  error: object
} {
  return { error: { message, type: typeOf(status), code, param: field ?? null } }
}

/** Returns a problem for clients of Open Responses, which accept no null for `param`. */
function responseError(problem: Problem): object {
  return errorBody({ ...problem, field: problem.field ?? '' })
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
