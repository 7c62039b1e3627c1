import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from './allium-error.ts'
import type { ErrorCode } from './codes.ts'
import { formatIssues, plainIssues } from './issues.ts'
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
