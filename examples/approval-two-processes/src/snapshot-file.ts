import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Snapshot } from 'allium'

const file = process.env.APPROVAL_FILE ?? '.cache/waiting.json'

/** A snapshot is plain JSON, as long as no message has bytes in it. */
export function saveSnapshot(snapshot: Snapshot): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(snapshot, null, 2), { mode: 0o600 })
}

export function loadSnapshot(): Snapshot {
  return JSON.parse(readFileSync(file, 'utf8'))
}
