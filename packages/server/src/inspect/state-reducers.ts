import type { TurnView } from '@allium/core'

/** Most characters of the source of a reducer. */
const maxSource = 500

/** The internals of a context that name the reducers of the agent. */
interface WithFields {
  readonly $owner?: { readonly agent?: { readonly fields?: ReadonlyMap<string, { readonly reducer?: unknown }> } }
}

/** Returns a function that returns the source of a key's reducer when it is called for the key for the first time. */
export function reducersOf(ctx: TurnView): (key: string) => string | undefined {
  const fields = (ctx as WithFields).$owner?.agent?.fields
  const known = new Set<string>()
  return (key) => {
    if (known.has(key)) return undefined
    known.add(key)
    const reducer = fields?.get(key)?.reducer
    return typeof reducer === 'function' ? String(reducer).slice(0, maxSource) : undefined
  }
}
