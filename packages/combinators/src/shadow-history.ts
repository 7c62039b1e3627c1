import type { Message, ReadonlyHistory } from '@allium/core'
import { copyOf } from './copy.ts'

/** Returns the history followed by the messages that a shadow pushed; the real history stays unchanged. */
export function shadowHistory(real: ReadonlyHistory, onPush: () => void): ReadonlyHistory {
  const pushed: Message[] = []
  const withPushed = () => (pushed.length === 0 ? real : [...real, ...pushed])
  const push = (...messages: Message[]) => {
    onPush()
    pushed.push(...copyOf(messages))
    return real.length + pushed.length
  }
  return new Proxy(real, {
    get: (_, key) => (key === 'push' ? push : Reflect.get(isIndexKey(key) ? withPushed() : real, key)),
    has: (_, key) => Reflect.has(withPushed(), key),
  })
}

function isIndexKey(key: PropertyKey): boolean {
  return typeof key === 'string' && (key === 'length' || /^\d+$/.test(key))
}
