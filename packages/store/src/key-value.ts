import type { Erasure, Writer } from '@allium/core'
/**
 * Stores values by key with an expiry, for caches and limits. Values are JSON. Keyv (https://keyv.org) has the same interface,
 * so every Keyv adapter works.
 */
export interface KeyValue {
  get(key: string): unknown
  /**
   * @param ttl milliseconds. Without it, the value stays until it is deleted, or until the store needs the space
   * @param by the owner of the value: `erase` deletes it with that owner's other data. Without it, no erasure deletes the value
   * @throws AlliumError `store.fenced` if the data of `by` was erased after its run began, in stores that detect it
   */
  set(key: string, value: unknown, ttl?: number, by?: Writer): unknown
  delete(key: string): unknown
  /** Deletes all values of a tenant, or of one owner in it. Absent if `SessionStore.erase` of the same store deletes them. */
  erase?(of: Erasure): unknown
}
