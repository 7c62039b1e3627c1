import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@allium/core'
import type { Place } from './process.ts'

let cases = 0

/** A place in a store that other cases use at the same time, with the time of the machine. */
export function sharedPlace(store: Place['store'], lease = 2000): Place {
  const name = `agent-${++cases}`
  return { store, clock: systemClock, lease, name, pass: (ms) => sleep(ms), soon: () => sleep(20) }
}
