import type { Erasure, Writer } from './writer.ts'

/**
 * Keeps values by key for a while: for caches and limits. Values are JSON. Keyv has this shape
 * (https://keyv.org), so each of its adapters is one.
 */
export interface KeyValue {
  get(key: string): unknown
  /**
   * @param ttl milliseconds; without it the value stays until it is deleted, or until the store needs the room
   * @param by for whom the value is kept: `erase` deletes it with the other data of that owner. Without it, nobody's erasure does
   * @throws AlliumError `store.fenced` when the data of `by` was erased after its run began, in stores that know
   */
  set(key: string, value: unknown, ttl?: number, by?: Writer): unknown
  delete(key: string): unknown
  /** Deletes all values of a tenant, or of one owner in it; absent where `SessionStore.erase` of the same store does. */
  erase?(of: Erasure): unknown
}
