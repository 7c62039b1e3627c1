import { AlliumError } from '@allium/core'
import type { Recording, RecordingQuery } from '../recording-store.ts'
import { checkRun } from '../run-names.ts'
import { checkStoreName } from '../store-name.ts'

/** The maximum size of the content of a recording, in UTF-8 bytes. */
export const maxRecordingBytes = 1_000_000

export { checkRun as checkRecordedRun }

/**
 * Returns a private copy of a recording, with the size of its content.
 *
 * @throws AlliumError `store.key`, `recording.too_large`
 */
export function checkRecording(recording: Recording): Recording & { readonly bytes: number } {
  const { startedAt, expiresAt, content } = recording
  checkTime('startedAt', startedAt)
  checkTime('expiresAt', expiresAt)
  const bytes = new TextEncoder().encode(content).length
  if (bytes > maxRecordingBytes)
    throw new AlliumError(
      'recording.too_large',
      `The recording of the turn "${recording.turnId}" has ${bytes} bytes, more than the ${maxRecordingBytes} that a store keeps. It was not stored. Record fewer parts of the turn, or leave out large files.`,
      { details: { bytes, turnId: recording.turnId } },
    )
  return { ...checkRun(recording), startedAt, expiresAt, content, bytes }
}

/** Returns the query with its defaults. @throws AlliumError `store.key` */
export function checkRecordingQuery(query: RecordingQuery) {
  const { agent, tenant, since = 0, until = Number.MAX_SAFE_INTEGER, order = 'desc', cursor, limit } = query
  checkStoreName('agent', agent)
  if (tenant !== undefined) checkStoreName('tenant', tenant)
  checkTime('since', since)
  checkTime('until', until)
  return { agent, tenant, since, until, isAscending: order === 'asc', cursor, limit }
}

/** Databases store whole milliseconds. */
function checkTime(name: string, value: number): void {
  if (Number.isSafeInteger(value)) return
  throw new AlliumError(
    'store.key',
    `The "${name}" of a recording is ${String(value)}. Pass whole milliseconds since the epoch.`,
    { details: { what: name } },
  )
}
