import type { Problem } from './problem.ts'

/** Returns a problem in the error format of OpenAI's API: https://platform.openai.com/docs/guides/error-codes */
export function errorBody({ status, code, message, field }: Pick<Problem, 'status' | 'code' | 'message' | 'field'>): {
  error: object
} {
  return { error: { message, type: typeOf(status), code, param: field ?? null } }
}

/** Returns a problem for clients of Open Responses, which accept no null for `param`. */
export function responseError(problem: Problem): object {
  return errorBody({ ...problem, field: problem.field ?? '' })
}

function typeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
