import type { ToolDef } from '@allium/core'
import { isRecord } from '@allium/core/internal'

export type JsonSchema = ToolDef['jsonSchema']

const named = /^(properties|\$defs|definitions|patternProperties|dependentSchemas)$/
const data = /^(enum|const|default|examples|required|type)$/

/** Returns a copy whose inner schemas are those that `change` returns. */
export function mapSchemas(schema: JsonSchema, change: (inner: JsonSchema) => unknown): JsonSchema {
  const changed = (value: unknown) => (isRecord(value) ? change(value) : value)
  return mapValues(schema, (value, key) => {
    if (data.test(key)) return value
    if (Array.isArray(value)) return value.map(changed)
    return named.test(key) && isRecord(value) ? mapValues(value, changed) : changed(value)
  })
}

/** Returns the inner schemas. */
export function schemasIn(schema: JsonSchema): JsonSchema[] {
  const found: JsonSchema[] = []
  mapSchemas(schema, (inner) => found.push(inner))
  return found
}

/** Whether a schema contains itself, by a reference. */
export function isRecursive(root: JsonSchema): boolean {
  const done = new Set<string>()
  const visit = (schema: JsonSchema, open: readonly string[]): boolean => {
    const { $ref } = schema
    if (typeof $ref !== 'string') return schemasIn(schema).some((inner) => visit(inner, open))
    if (open.includes($ref)) return true
    if (done.has($ref)) return false
    done.add($ref)
    const target = resolved(root, $ref)
    return target !== undefined && visit(target, [...open, $ref])
  }
  return visit(root, [])
}

/** Returns what a reference to a place in the same schema points to; undefined for any other reference. */
export function resolved(root: JsonSchema, pointer: string): JsonSchema | undefined {
  const [start, ...keys] = pointer.split('/')
  let place: unknown = start === '#' ? root : undefined
  for (const key of keys) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    place = Object(place) === place && Object.hasOwn(place as object, name) ? (place as JsonSchema)[name] : undefined
  }
  return isRecord(place) ? place : undefined
}

function mapValues(object: JsonSchema, change: (value: unknown, key: string) => unknown): JsonSchema {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

export function hasType({ type }: JsonSchema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name))
}
