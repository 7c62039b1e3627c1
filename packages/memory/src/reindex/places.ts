import { AlliumError, type SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'

type Scope = { tenant: string; owner?: string; agents: readonly string[] }

/** Lists all keys before any session is read, and sorts them, because a list ordered by time shifts while sessions change. */
export async function sortedKeys(sessions: SessionStore, scope: Scope): Promise<SessionKey[]> {
  const keys = new Map<string, SessionKey>()
  for (let cursor: string | undefined; ; ) {
    const page = await sessions.list({ ...scope, limit: 500, ...(cursor !== undefined && { cursor }) })
    for (const { key } of page.items) keys.set(toPlace(key), key)
    cursor = page.cursor
    if (cursor === undefined) break
  }
  return [...keys.values()].sort((a, b) => compare(partsOf(a), partsOf(b)))
}

/** Returns the place of a session in the order of all. */
export function toPlace(key: SessionKey): string {
  return Buffer.from(JSON.stringify(partsOf(key))).toString('base64url')
}

/** Returns whether a session comes after a place. @throws AlliumError `options.invalid` */
export function placeAfter(place: string): (key: SessionKey) => boolean {
  const after = partsIn(place)
  return (key) => compare(partsOf(key), after) > 0
}

function partsIn(place: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(place, 'base64url').toString())
    if (Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === 'string')) return parts
  } catch {}
  throw new AlliumError(
    'options.invalid',
    `reindex() got ${JSON.stringify(place).slice(0, 80)} as "cursor". Pass the "cursor" of the last session that was done.`,
  )
}

function partsOf({ owner, agent, sessionId }: SessionKey): string[] {
  return [owner, agent, sessionId]
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [i, part] of a.entries()) if (part !== b[i]) return part < (b[i] as string) ? -1 : 1
  return 0
}
