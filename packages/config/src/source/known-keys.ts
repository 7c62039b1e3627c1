import type { z } from 'zod'

/** The keys that a schema knows at a path. */
export function knownKeys(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let at = unwrapped(schema)
  for (const key of path) at = at.flatMap((one) => inside(one, key)).flatMap(unwrapped)
  return [...new Set(at.flatMap((one) => (one.type === 'object' ? Object.keys(one.shape) : [])))]
}

type Def = z.core.$ZodTypes['_zod']['def']

/** What a schema comes down to: without optional and the like, and each branch of a union. */
function unwrapped(schema: z.core.$ZodType): Def[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return unwrapped(def.innerType)
  return def.type === 'union' ? def.options.flatMap(unwrapped) : [def]
}

function inside(def: Def, key: PropertyKey): z.core.$ZodType[] {
  if (def.type === 'array') return [def.element]
  if (def.type === 'record') return [def.valueType]
  if (def.type !== 'object') return []
  const field = def.shape[key as string]
  return field === undefined ? [] : [field]
}
