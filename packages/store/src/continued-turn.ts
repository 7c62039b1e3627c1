import type { StoredTurn } from '@allium/core'
import type { Checkpoint } from './session-store.ts'

/** Returns the whole run of a checkpoint; undefined if the checkpoint before does not have what it leaves out. */
export function continuedTurn(before: StoredTurn | undefined, { after, ...turn }: Checkpoint): StoredTurn | undefined {
  if (!after?.messages) return turn
  if (before?.turnId !== turn.turnId || before.from !== turn.from || before.messages.length < after.messages)
    return undefined
  return {
    ...turn,
    messages: joined(before.messages, after.messages, turn.messages),
    calls: joined(before.calls, after.calls, turn.calls),
    records: joined(before.records, after.records, turn.records),
  }
}

function joined<T>(before: readonly T[] = [], count: number, added: readonly T[] = []): T[] {
  return [...before.slice(0, count), ...added]
}
