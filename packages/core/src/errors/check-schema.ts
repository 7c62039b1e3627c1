import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from './allium-error.ts'
import type { ErrorCode } from './codes.ts'
import { isThenable } from './thenable.ts'

interface Subject {
  /** What is checked, as the begin of a sentence. */
  readonly what: string
  readonly code: ErrorCode
  readonly details?: object
  readonly fix?: string
}

/** Returns the output of a synchronous schema, or the value itself without a schema. @throws AlliumError `code` */
export function checkSchema(
  schema: StandardSchemaV1 | undefined,
  value: unknown,
  { what, code, details, fix = '' }: Subject,
): unknown {
  if (schema === undefined) return value
  const result = schema['~standard'].validate(value)
  if (isThenable(result)) throw new AlliumError(code, `${what} has an asynchronous schema. Use a synchronous one.`)
  if (result.issues === undefined) return result.value
  const issues = plainIssues(result.issues)
  const message = `${what} does not fit its schema: ${formatIssues(issues)}.${fix}`
  throw new AlliumError(code, message, { details: { ...details, issues } })
}

/** Formats the issues as one line for the model. */
export function formatIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  return plainIssues(issues)
    .map(({ message, path }) => (path === undefined ? message : `${path.join('.')}: ${message}`))
    .join('; ')
}

/** Returns the first issues as JSON of a bounded size. The issues of some libraries hold the value, or functions. */
export function plainIssues(
  issues: readonly StandardSchemaV1.Issue[],
): { message: string; path?: (string | number)[] }[] {
  return issues.slice(0, 10).map(({ message, path = [] }) => ({
    message: String(message).slice(0, 1000),
    ...(path.length > 0 && { path: path.slice(0, 100).map(segment) }),
  }))
}

function segment(part: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof part === 'object' ? part.key : part
  return typeof key === 'number' ? key : String(key).slice(0, 100)
}
