import type { Message, ReadonlyHistory } from '@allium/core'
import { checkMessage, copyMessage } from '@allium/core'

/** The history with what a shadow pushed behind it; the history itself stays as it is. */
export function forkHistory(real: ReadonlyHistory, pushed: () => void): ReadonlyHistory {
  const own: Message[] = []
  const all = () => (own.length === 0 ? real : [...real, ...own])
  const push = (...messages: Message[]) => {
    for (const message of messages) checkMessage(message, 'A message pushed to the history', 'history.invalid')
    own.push(...messages.map(copyMessage))
    pushed()
    return real.length + own.length
  }
  return new Proxy(real, {
    get: (_, key) => (key === 'push' ? push : Reflect.get(typeof key === 'string' && isPlace(key) ? all() : real, key)),
    has: (_, key) => Reflect.has(all(), key),
  })
}

function isPlace(key: string): boolean {
  return key === 'length' || /^\d+$/.test(key)
}
