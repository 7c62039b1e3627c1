import type { StateRecord } from '@allium/server/inspect'

/** A key of the state after a write. */
export interface StateValue {
  value: unknown
  /** Set for the key that the write changed. The value before it is undefined if no earlier write was recorded. */
  written?: { before: unknown }
}

/** Returns the values after a write. The written key comes first. */
export function valuesAfter(writes: readonly StateRecord[], last: number): [string, StateValue][] {
  const values = new Map<string, StateValue>()
  const written = writes[last]
  for (const { key, value } of writes.slice(0, last)) values.set(key, { value })
  if (written === undefined) return [...values]
  const before = values.get(written.key)?.value
  values.delete(written.key)
  return [[written.key, { value: written.value, written: { before } }], ...values]
}

/** Returns the reducers by key. The first write of a key in a turn has its reducer. */
export function reducersIn(writes: readonly StateRecord[]): ReadonlyMap<string, string> {
  const reducers = new Map<string, string>()
  for (const { key, reducer } of writes) if (reducer !== undefined) reducers.set(key, reducer)
  return reducers
}
