import type { StoredTurn } from '@allium/core'
import type { Checkpoint } from './session-store.ts'

/** Whether a checkpoint leaves out what the one before has. */
export function continues({ after }: Checkpoint): boolean {
  return after !== undefined && after.messages + after.calls + after.records > 0
}

/** Returns the whole run of a checkpoint; undefined if the checkpoint before does not have what it leaves out. */
export function continuedTurn(before: StoredTurn | undefined, checkpoint: Checkpoint): StoredTurn | undefined {
  const { after, ...turn } = checkpoint
  if (after === undefined || !continues(checkpoint)) return turn
  if (before?.turnId !== turn.turnId || (before.from !== turn.from && after.messages > 0)) return undefined
  const messages = joined(before.messages, after.messages, turn.messages)
  const calls = joined(before.calls, after.calls, turn.calls)
  const records = joined(before.records, after.records, turn.records)
  return messages && calls && records && { ...turn, messages, calls, records }
}

function joined<T>(before: readonly T[] = [], count: number, added: readonly T[] = []): T[] | undefined {
  return before.length < count ? undefined : [...before.slice(0, count), ...added]
}
