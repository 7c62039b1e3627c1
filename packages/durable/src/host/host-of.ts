import { AlliumError } from '@allium/core'
import type { Host } from './host.ts'

const hosts = new WeakMap<object, Host>()

/** Gives other entry points of this package access to the host of a `durable()`. */
export function setHost(runs: object, host: Host): void {
  hosts.set(runs, host)
}

/** @throws AlliumError `agent.options` if `durable()` of this package did not return the object */
export function hostOf(runs: object, caller: string): Host {
  const host = typeof runs === 'object' && runs !== null ? hosts.get(runs) : undefined
  if (host !== undefined) return host
  throw new AlliumError('agent.options', `${caller} takes the object that durable() returned. Pass that object itself.`)
}
