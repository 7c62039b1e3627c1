import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { isPrintable } from '../errors/describe.ts'
import { isThenable } from '../errors/thenable.ts'
import { tenantOf } from '../ports/tenant.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import { formatIssues } from '../tool/check-args.ts'

/** Returns the output of the schema, or the value itself without a schema. */
export function checkValue(
  schema: StandardSchemaV1 | undefined,
  value: unknown,
  what: string,
  code: ErrorCode,
): unknown {
  if (schema === undefined) return value
  const result = schema['~standard'].validate(value)
  if (isThenable(result))
    throw new AlliumError(code, `The schema of the ${what} is asynchronous. Use a synchronous one.`)
  if (result.issues === undefined) return result.value
  throw new AlliumError(code, `The ${what} does not fit the agent's schema: ${formatIssues(result.issues)}.`, {
    details: { issues: result.issues },
  })
}

/** Throws `session.principal` if the owner is unclear, before anything is stored under a wrong name. */
export function checkPlace({ principal, owner }: SessionScope): void {
  tenantOf(principal)
  void owner
}

/** Checks a session id, because it becomes part of store keys and logs. */
export function checkSessionId(id: unknown): string {
  if (typeof id === 'string' && id.length > 0 && id.length <= 256 && isPrintable(id)) return id
  const given = typeof id === 'string' ? `one of ${id.length} characters` : String(id)
  throw new AlliumError(
    'session.invalid_id',
    `A session id takes 1 to 256 characters without control characters or lone surrogates, not ${given}.`,
  )
}
