import { errorBody, responseError } from './error-body.ts'
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
