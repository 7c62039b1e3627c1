import type { ModelChunk } from '@allium/core'
import type { RecordedError, RequestData } from '@allium/shared/recording'
import { recordingError } from './recording-error.ts'

/** The part of a request that is recorded and matched: not its signal or principal. */
export type CassetteRequest = RequestData

/** One call of the model. All of it is JSON: bytes are `{ $bytes }`, URLs are `{ $url }`. */
export interface CassetteEntry {
  request: CassetteRequest
  /** The chunks as the model sent them, inside all layers. Without a `finish` the stream was truncated. */
  chunks: ModelChunk[]
  /** The model's error, after the chunks. */
  error?: RecordedError
  /** Whether the reader abandoned or aborted the call before the stream had ended. */
  left?: true
}

/** A recording of one model, as plain JSON data without secrets. */
export interface Cassette {
  version: 1
  /** The id of the recorded model. */
  model: string
  /** In the order in which the calls began. */
  entries: CassetteEntry[]
}

/** Throws unless `value` is a cassette. `name` is its name in the message. */
export function checkCassette(value: unknown, name: string): asserts value is Cassette {
  const { version, model, entries } = (value ?? {}) as Partial<Cassette>
  if (version === 1 && typeof model === 'string' && Array.isArray(entries) && entries.every(isEntry)) return
  const found = version === 1 ? 'has a damaged entry' : `has the version ${JSON.stringify(version)}, not 1`
  throw recordingError(`${name} is not a cassette: it ${found}. Record it again.`, { version })
}

function isEntry(value: unknown): boolean {
  const { request, chunks } = (value ?? {}) as Partial<CassetteEntry>
  return typeof request === 'object' && request !== null && Array.isArray(request.messages) && Array.isArray(chunks)
}
