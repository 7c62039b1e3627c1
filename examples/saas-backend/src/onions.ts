import type { KeyValue } from 'allium'
import type * as observe from 'allium/observe'

/** How long onions are stored, in milliseconds. */
const week = 7 * 24 * 60 * 60_000
const keyOf = (turnId: string) => `onion:${turnId}`

interface Tells {
  on(event: 'turn:end', hear: (event: { turnId: string }) => void): unknown
}

/** Stores the onion of each turn for all processes. `observe.onion` keeps it only in the process that ran the turn. */
export function keepOnions(agent: Tells, onion: observe.Onion, keyValue: KeyValue): void {
  agent.on('turn:end', ({ turnId }) => {
    const turn = onion.timeline(turnId)
    if (turn !== undefined) void keyValue.set(keyOf(turnId), turn, week)
  })
}

export async function onionOf(keyValue: KeyValue, turnId: string): Promise<observe.OnionTurn | undefined> {
  return (await keyValue.get(keyOf(turnId))) as observe.OnionTurn | undefined
}
