import { AlliumError, type Writer } from '@allium/core'
import { type KeyValue, MemoryErasures } from '@allium/store'
import { LRUCache } from 'lru-cache'

/** Stores the most recently used values in this process. */
export function memoryKeyValue({ max = 1000 }: { max?: number } = {}): KeyValue {
  const values = new LRUCache<string, { value: unknown; by: Writer | undefined }>({ max })
  const erasures = new MemoryErasures()
  return {
    get: (key) => values.get(key)?.value,
    set(key, value, ttl, by) {
      if (erasures.fences(by)) throw fenced()
      values.set(key, { value, by }, ttl === undefined ? {} : { ttl })
    },
    delete: (key) => values.delete(key),
    erase(of) {
      erasures.add(of, Date.now())
      for (const [key, { by }] of values.entries())
        if (by?.tenant === of.tenant && (of.owner ?? by.owner) === by.owner) values.delete(key)
    },
  }
}

function fenced(): AlliumError {
  return new AlliumError(
    'store.fenced',
    'The data of this owner was erased while the run was active. Nothing was stored.',
  )
}
