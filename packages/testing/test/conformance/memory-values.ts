import { type Clock, fromJson, toJson } from '@allium/core'
import type { KeyValue } from '@allium/store'
import type { Vault } from '../../src/index.ts'

/** Values in this process, as the suites ask for them. */
export function memoryValues(clock: Pick<Clock, 'now'>): KeyValue & { keys(): string[] } {
  const values = new Map<string, { text: string; until: number }>()
  return {
    async get(key) {
      const kept = values.get(key)
      return kept === undefined || kept.until <= clock.now() ? undefined : fromJson(kept.text)
    },
    async set(key, value, ttl = Number.POSITIVE_INFINITY) {
      values.set(key, { text: toJson(value), until: clock.now() + ttl })
    },
    async delete(key) {
      values.delete(key)
    },
    keys: () => [...values.keys()],
  }
}

export function memoryVault(): Required<Vault> {
  const kept = new Map<string, string>()
  return {
    async load(key) {
      const text = kept.get(key)
      return text === undefined ? undefined : (fromJson(text) as Record<string, string>)
    },
    async save(key, values) {
      kept.set(key, toJson(values))
    },
  }
}
