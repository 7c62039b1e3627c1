import type { JsonSchema, Validate } from '@allium/core'
import type { ErrorObject, Options, ValidateFunction } from 'ajv'

type Issue = Awaited<ReturnType<Validate>>[number]

/**
 * Checks values against raw JSON Schemas with ajv, each compiled once. Draft 07 unless `$schema` says 2019-09 or
 * 2020-12. Formats are not checked, unknown keywords are passed over, and it tells the first issue.
 *
 * It is loaded with the first schema, and compiles to code, which some edge runtimes forbid: give `new Agent({ validate })` one of your own there.
 */
export function ajvValidate(): Validate {
  const compiled = new WeakMap<JsonSchema, ValidateFunction>()
  return (schema, value) => {
    const known = compiled.get(schema)
    if (known !== undefined) return issuesOf(known, value)
    return compile(schema).then((check) => {
      compiled.set(schema, check)
      return issuesOf(check, value)
    })
  }
}

function issuesOf(check: ValidateFunction, value: unknown): Issue[] {
  return check(value) ? [] : (check.errors ?? []).map(toIssue)
}

/** Each schema in an ajv of its own (4 ms, 5 KB): tools come from many hands, and two may share an `$id`. */
async function compile(schema: JsonSchema): Promise<ValidateFunction> {
  // Such a check answers with a promise, which would pass for a yes.
  if (schema.$async !== undefined) throw new TypeError('An asynchronous schema ($async) cannot check arguments.')
  const isNew = /2019-09|2020-12/.test(String(schema.$schema))
  const Draft = isNew ? (await import('ajv/dist/2020.js')).Ajv2020 : (await import('ajv')).Ajv
  return new Draft(options).compile(schema)
}

const options: Options = {
  allErrors: false,
  strict: false,
  validateFormats: false,
  // `$schema` may name a draft that ajv has not heard of.
  validateSchema: false,
  meta: false,
  logger: false,
}

function toIssue({ message = 'is invalid', instancePath }: ErrorObject): Issue {
  return instancePath === '' ? { message } : { message, path: instancePath.slice(1).split('/').map(unescaped) }
}

/** A segment of a JSON Pointer (https://www.rfc-editor.org/rfc/rfc6901#section-4). */
function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}
