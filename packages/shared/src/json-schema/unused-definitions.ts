import { isObject } from './check/json.ts'
import { resolvePointer } from './check/reference.ts'

/**
 * Removes the definitions that nothing refers to from a schema, in place. All tools of a server may have the same definitions, which
 * would be sent with each request. Keeps them all if a reference is an anchor or names another document.
 */
export function removeUnusedDefinitions(schema: unknown): void {
  if (!isObject(schema)) return
  const { $defs, definitions, ...rest } = schema
  const used = new Set<unknown>([rest])
  let isLocal = true
  // Without recursion, because a chain of definitions may be long. A set also gives values that are added meanwhile.
  for (const part of used)
    JSON.stringify(part, (key, value) => {
      if (!/^\$(dynamic)?ref$/i.test(key) || typeof value !== 'string') return value
      isLocal &&= /^#(\/.+\/|$)/.test(value)
      if (value !== '#') used.add(resolvePointer(schema, value.split('/', 3).join('/')))
    })
  for (const group of [$defs, definitions])
    if (isLocal && isObject(group))
      for (const name of Object.keys(group)) if (!used.has(group[name])) Reflect.deleteProperty(group, name)
}
