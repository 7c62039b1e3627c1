import { type CleanText, cleanRequest } from '@allium/shared/recording'
import type { Cassette, CassetteEntry, CassetteRequest } from './cassette-data.ts'

/** A recorded call, its lookup key, and whether it was used. */
export interface Take {
  readonly entry: CassetteEntry
  readonly key: string
  used: boolean
}

/** Returns the recorded calls, none of them used yet. */
export function takesOf({ entries }: Cassette, clean: CleanText): Take[] {
  return entries.map((entry) => ({ entry, key: requestKey(cleanRequest(entry.request, clean)), used: false }))
}

/** Returns the lookup key of a cleaned request. */
export function requestKey(request: CassetteRequest): string {
  return JSON.stringify(sortKeys(request))
}

/** Sorts fields by name, so that the key order does not matter. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([key, item]) => [key, sortKeys(item)]))
}
