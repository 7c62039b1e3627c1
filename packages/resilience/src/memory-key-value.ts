import type { KeyValue } from '@allium/core'
import { LRUCache } from 'lru-cache'

/** Keeps values in this process, those that were used last. */
export function memoryKeyValue({ max = 1000 }: { max?: number } = {}): KeyValue {
  const values = new LRUCache<string, object>({ max })
  return {
    get: (key) => (values.get(key) as { value: unknown } | undefined)?.value,
    set(key, value, ttl) {
      values.set(key, { value }, ttl === undefined ? {} : { ttl })
    },
    delete: (key) => values.delete(key),
  }
}
