import type { Message, ReadonlyHistory } from '@allium/core'
import { copyOf } from './copy.ts'

/** The history with what a shadow pushed behind it; the history itself stays as it is. */
export function shadowHistory(real: ReadonlyHistory, pushes: () => void): ReadonlyHistory {
  const own: Message[] = []
  const all = () => (own.length === 0 ? real : [...real, ...own])
  const push = (...messages: Message[]) => {
    pushes()
    own.push(...copyOf(messages))
    return real.length + own.length
  }
  return new Proxy(real, {
    get: (_, key) => (key === 'push' ? push : Reflect.get(isPlace(key) ? all() : real, key)),
    has: (_, key) => Reflect.has(all(), key),
  })
}

function isPlace(key: PropertyKey): boolean {
  return typeof key === 'string' && (key === 'length' || /^\d+$/.test(key))
}
