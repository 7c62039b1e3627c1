import { AlliumError } from '@allium/core'
import type { Recording, RecordingQuery } from '../recording-store.ts'
import { checkRun } from '../run-names.ts'
import { checkStoreName } from '../store-name.ts'

/** The maximum size of the content of a recording, in UTF-8 bytes. */
export const maxRecordingBytes = 1_000_000

export { checkRun as checkRecordedRun }

/** A recording whose content is encoded once, for its size and for its row. */
export type CheckedRecording = Recording & { readonly encoded: Uint8Array }

/**
 * Returns a private copy of a recording, with its content in UTF-8.
 *
 * @throws AlliumError `store.key`, `recording.too_large`
 */
export function checkRecording(recording: Recording): CheckedRecording {
  const { startedAt, expiresAt, content } = recording
  checkTime('startedAt', startedAt)
  checkTime('expiresAt', expiresAt)
  const encoded = encoder.encode(content)
  const bytes = encoded.length
  if (bytes > maxRecordingBytes)
    throw new AlliumError(
      'recording.too_large',
      `The recording of the turn "${recording.turnId}" has ${bytes} bytes, more than the ${maxRecordingBytes} that a store keeps. It was not stored. Record fewer parts of the turn, or leave out large files.`,
      { details: { bytes, turnId: recording.turnId } },
    )
  return { ...checkRun(recording), startedAt, expiresAt, content, encoded }
}

const encoder = new TextEncoder()

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
