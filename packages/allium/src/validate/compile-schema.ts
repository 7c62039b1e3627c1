import type { JsonSchema } from '@allium/core'
import type { Validate } from '@allium/core/internal'
import type { Ajv, ErrorObject, Options } from 'ajv'

export type Issue = Awaited<ReturnType<Validate>>[number]
export type Check = (value: unknown) => Issue[]

/** Each schema gets its own ajv (4 ms, 5 KB), because two tools may have schemas with the same `$id`. */
export async function compileSchema(schema: JsonSchema): Promise<Check> {
  const Draft = await (isNewDraft(schema) ? newDrafts() : draft07())
  const check = new Draft(options).compile(schema)
  return (value) => (check(value) ? [] : (check.errors ?? []).map(toIssue))
}

/** Whether it is a schema of 2019-09 or 2020-12. */
function isNewDraft({ $schema }: JsonSchema): boolean {
  return /2019-09|2020-12/.test(String($schema))
}

type AjvClass = new (options: Options) => Ajv

async function draft07(): Promise<AjvClass> {
  return exportsOf(await import('ajv')).Ajv
}

async function newDrafts(): Promise<AjvClass> {
  return exportsOf(await import('ajv/dist/2020.js')).Ajv2020
}

/** Ajv is CommonJS. Node and some bundlers put its exports on the module, others leave them in `default`. */
function exportsOf<Module extends object>(module: Module): Module {
  return 'default' in module && !('Ajv' in module || 'Ajv2020' in module) ? (module.default as Module) : module
}

const options: Options = {
  allErrors: false,
  strict: false,
  validateFormats: false,
  // `$schema` may name a draft that ajv does not know.
  validateSchema: false,
  meta: false,
  logger: false,
}

function toIssue({ message = 'is invalid', instancePath }: ErrorObject): Issue {
  return issueAt(instancePath, message)
}

/** @param pointer a JSON Pointer (https://www.rfc-editor.org/rfc/rfc6901#section-4) */
function issueAt(pointer: string, message: string): Issue {
  return pointer === '' ? { message } : { message, path: pointer.slice(1).split('/').map(unescaped) }
}

function unescaped(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}
