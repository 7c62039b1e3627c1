import type { SessionKey } from '@allium/core'
import type { Runtime, StoreReader } from '../host/host.ts'
import type { Caller } from '../request/caller.ts'
import { endOfHistory } from '../request/read-history.ts'
import { displayTransformOf } from '../run/display-transform.ts'
import { type UiChunk, uiMessages } from '../sessions/ui-messages.ts'

/** Returns the steering messages of the latest run by id, because a reloaded page does not have the text that it sent. */
export async function steerChunksOf(
  host: StoreReader & Runtime,
  caller: Caller,
  key: SessionKey,
): Promise<ReadonlyMap<string, UiChunk>> {
  const [latest] = await host.sessions.history(key, { before: endOfHistory, limit: 1 })
  const all = latest?.messages.map((message, index) => ({ index, message })) ?? []
  const steers = all.filter(({ message }) => message.steer !== undefined)
  if (steers.length === 0) return new Map()
  const display = await displayTransformOf(caller.agent, key, host.logger)
  const parts = uiMessages({ history: steers, pending: [], display }).flatMap((message) => message.parts)
  return new Map(parts.map((part) => [part.id as string, part]))
}
