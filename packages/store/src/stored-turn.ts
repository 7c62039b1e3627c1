import { AlliumError, type StoredTurn } from '@allium/core'
import { describe, isRecord } from '@allium/core/internal'
/**
 * Checks that every store can store and return a turn, and returns it.
 *
 * @throws AlliumError `state.invalid` if a field is invalid
 */
export function checkTurn<T extends StoredTurn>(turn: T): T {
  const { from, messages, records, usage, rest, startedAt, endedAt = startedAt } = turn
  if (!Number.isSafeInteger(from) || from < 0) throw invalid('from', from, 'the index of its first message, from 0 on')
  if (!Array.isArray(messages)) throw invalid('messages', messages, 'a list')
  if (!Array.isArray(records)) throw invalid('records', records, 'a list')
  if (!isRecord(rest) || !isRecord(rest.state)) throw invalid('rest', rest, 'an object with the state of the session')
  if (!isRecord(usage)) throw invalid('usage', usage, 'the usage of the turn')
  for (const time of [startedAt, endedAt])
    if (!(Math.abs(time) <= farthest)) throw invalid('startedAt or endedAt', time, 'milliseconds since the epoch')
  return turn
}

/** The maximum distance of a date from the epoch, in milliseconds. */
const farthest = 8.64e15

function invalid(field: string, value: unknown, wanted: string): AlliumError {
  return new AlliumError(
    'state.invalid',
    `The field ${field} of a stored turn is ${typeof value === 'number' ? value : describe(value)}, but should be ${wanted}. Nothing was stored.`,
    { details: { key: field } },
  )
}
