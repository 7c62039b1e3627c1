import type { StandardSchemaV1 } from '@standard-schema/spec'

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
