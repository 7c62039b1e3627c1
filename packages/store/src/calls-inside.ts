import type { SuspendedCall } from '@allium/core'

/** Returns the id of a pending call, or those of the calls that wait inside, if it runs a sub-agent: `outer/inner`. */
export function callsInside(callId: string, call: SuspendedCall | undefined): string[] {
  const inside = call?.inner?.snapshot.suspension?.calls
  if (inside === undefined) return [callId]
  return Object.entries(inside).flatMap(([id, inner]) => callsInside(`${callId}/${id}`, inner))
}
