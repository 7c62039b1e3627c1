import type { z } from 'zod'

/** Returns the keys that a schema knows at a path. */
export function knownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let at = unwrap(schema)
  for (const key of path) at = at.flatMap((schemaAt) => childSchemas(schemaAt, key)).flatMap(unwrap)
  return [...new Set(at.flatMap((schemaAt) => (schemaAt.type === 'object' ? Object.keys(schemaAt.shape) : [])))]
}

type Def = z.core.$ZodTypes['_zod']['def']

/** Returns the underlying schemas: without optional and similar wrappers, and each branch of a union. */
function unwrap(schema: z.core.$ZodType): Def[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return unwrap(def.innerType)
  return def.type === 'union' ? def.options.flatMap(unwrap) : [def]
}

function childSchemas(def: Def, key: PropertyKey): z.core.$ZodType[] {
  if (def.type === 'array') return [def.element]
  if (def.type === 'record') return [def.valueType]
  if (def.type !== 'object') return []
  const field = def.shape[key as string]
  return field === undefined ? [] : [field]
}
