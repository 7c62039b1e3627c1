import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isThenable } from '../errors/thenable.ts'
import { isReservedKey } from '../messages/json.ts'
import type { Validate } from '../ports/validate.ts'
import type { AnyTool } from './tool.ts'

/**
 * The result of a schema check: the value for `execute`, or the issues that reject the arguments. `cause` is the error that
 * the schema threw. It is for logs and observers, never for the model.
 */
export type CheckedArgs =
  | { value: unknown; issues?: undefined }
  | { issues: readonly StandardSchemaV1.Issue[]; cause?: unknown }

/** Checks arguments against the tool's schema. If the schema throws, the arguments are rejected. */
export function checkArgs(
  tool: AnyTool,
  args: Record<string, unknown>,
  validate: Validate | undefined,
): CheckedArgs | Promise<CheckedArgs> {
  const reserved = refusedKey(args)
  if (reserved !== undefined) return reserved
  try {
    if (tool.schema === undefined) return checkJsonSchema(tool, args, validate)
    const result = tool.schema['~standard'].validate(args)
    return isThenable(result) ? Promise.resolve(result).then(outcome, failed) : outcome(result)
  } catch (error) {
    return failed(error)
  }
}

/** Rejects arguments that contain a key that would reach a prototype, at any depth. */
export function refusedKey(args: Record<string, unknown>): { issues: readonly StandardSchemaV1.Issue[] } | undefined {
  const key = reservedKey(args)
  return key === undefined ? undefined : refused(`The key "${key}" is not allowed.`)
}

/** Formats the issues as one line for the model. */
export function formatIssues(issues: readonly StandardSchemaV1.Issue[]): string {
  return issues
    .slice(0, 10)
    .map(({ message, path }) =>
      path === undefined || path.length === 0 ? message : `${path.map(segment).join('.')}: ${message}`,
    )
    .join('; ')
}

function checkJsonSchema(
  { jsonSchema }: AnyTool,
  args: Record<string, unknown>,
  validate: Validate | undefined,
): CheckedArgs | Promise<CheckedArgs> {
  if (validate === undefined || jsonSchema === undefined) return { value: args }
  const judged = (issues: readonly StandardSchemaV1.Issue[]): CheckedArgs =>
    issues.length === 0 ? { value: args } : { issues }
  const found = validate(jsonSchema, args)
  return isThenable(found) ? found.then(judged, failed) : judged(found)
}

function outcome(result: StandardSchemaV1.Result<unknown>): CheckedArgs {
  return result.issues === undefined ? { value: result.value } : { issues: result.issues }
}

/** Hides the schema's error from the model, because it may contain a secret. */
function failed(cause: unknown): CheckedArgs {
  return { ...refused('The arguments could not be checked.'), cause }
}

function refused(message: string): { issues: readonly StandardSchemaV1.Issue[] } {
  return { issues: [{ message }] }
}

function segment(part: PropertyKey | StandardSchemaV1.PathSegment): string {
  return String(typeof part === 'object' ? part.key : part)
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
