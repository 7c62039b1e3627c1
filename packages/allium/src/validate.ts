import type { JsonSchema, Validate } from '@allium/core'
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

type Issue = Awaited<ReturnType<Validate>>[number]

/**
 * Checks values against raw JSON Schemas with ajv, each compiled once. Draft 07 unless `$schema` says 2019-09 or
 * 2020-12. Formats are not checked, unknown keywords are passed over, and it tells the first issue.
 *
 * It compiles to code, which some edge runtimes forbid: give `new Agent({ validate })` one of your own there.
 */
export function ajvValidate(): Validate {
  const compiled = new WeakMap<JsonSchema, ValidateFunction>()
  return (schema, value) => {
    let check = compiled.get(schema)
    if (check === undefined) {
      check = compile(schema)
      compiled.set(schema, check)
    }
    return check(value) ? [] : (check.errors ?? []).map(toIssue)
  }
}

/** Each schema in an ajv of its own (4 ms, 5 KB): tools come from many hands, and two may share an `$id`. */
function compile(schema: JsonSchema): ValidateFunction {
  // Such a check answers with a promise, which would pass for a yes.
  if (schema.$async !== undefined) throw new TypeError('An asynchronous schema ($async) cannot check arguments.')
  const Draft = /2019-09|2020-12/.test(String(schema.$schema)) ? Ajv2020 : Ajv
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
