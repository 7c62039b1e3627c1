import type { StandardSchemaV1 } from '@standard-schema/spec'
import { plainIssues } from '../errors/issues.ts'
import { isThenable } from '../errors/thenable.ts'
import { isReservedKey } from '../messages/json.ts'
import type { JsonSchema, Validate } from '../ports/validate.ts'
import type { AnyTool } from './tool.ts'

/**
 * The result of a schema check: the value for `execute`, or the issues that reject the arguments. `cause` is the error that
 * the schema threw. It is for logs and observers, never for the model.
 */
export type CheckedArgs =
  | { value: unknown; issues?: undefined }
  | { issues: readonly StandardSchemaV1.Issue[]; cause?: unknown }

/** Checks arguments against the tool's schema. */
export function checkArgs(
  tool: AnyTool,
  args: Record<string, unknown>,
  validate: Validate | undefined,
): CheckedArgs | Promise<CheckedArgs> {
  return refusedKey(args) ?? checkBy(tool, args, validate)
}

/** Checks a value against a schema, or a JSON Schema if there is no other. If the schema throws, the value is rejected. */
export function checkBy(
  { schema, jsonSchema }: Pick<AnyTool, 'schema' | 'jsonSchema'>,
  value: unknown,
  validate: Validate | undefined,
): CheckedArgs | Promise<CheckedArgs> {
  try {
    if (schema !== undefined) return settled(schema['~standard'].validate(value), outcome)
    if (validate === undefined || jsonSchema === undefined) return { value }
    return settled(validate(jsonSchema as JsonSchema, value), (issues) =>
      outcome(issues.length === 0 ? { value } : { issues }),
    )
  } catch (error) {
    return failed(error)
  }
}

/** Rejects arguments that contain a key that would reach a prototype, at any depth. */
export function refusedKey(args: Record<string, unknown>): { issues: readonly StandardSchemaV1.Issue[] } | undefined {
  const key = reservedKey(args)
  return key === undefined ? undefined : refused(`The key "${key}" is not allowed.`)
}

function settled<T>(result: T | Promise<T>, judge: (result: T) => CheckedArgs): CheckedArgs | Promise<CheckedArgs> {
  return isThenable(result) ? Promise.resolve(result).then(judge, failed) : judge(result)
}

function outcome(result: StandardSchemaV1.Result<unknown>): CheckedArgs {
  return result.issues === undefined ? { value: result.value } : { issues: plainIssues(result.issues) }
}

/** Hides the schema's error from the model, because it may contain a secret. */
function failed(cause: unknown): CheckedArgs {
  return { ...refused('The arguments could not be checked.'), cause }
}

function refused(message: string): { issues: readonly StandardSchemaV1.Issue[] } {
  return { issues: [{ message }] }
}

function reservedKey(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || depth > 1000) return undefined
  for (const key in value) {
    if (isReservedKey(key) && !Array.isArray(value)) return key
    const inner = reservedKey((value as Record<string, unknown>)[key], depth + 1)
    if (inner !== undefined) return inner
  }
  return undefined
}
