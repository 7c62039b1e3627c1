/**
 * Keeps values by key for a while: for caches and limits. Values are JSON. Keyv has this shape
 * (https://keyv.org), so each of its adapters is one.
 */
export interface KeyValue {
  get(key: string): unknown
  /** @param ttl milliseconds; without it the value stays until it is deleted, or until the store needs the room */
  set(key: string, value: unknown, ttl?: number): unknown
  delete(key: string): unknown
}
