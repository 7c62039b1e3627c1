import { type SessionKey, type StoredTurn, toJson } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'

/** One line of an export, as JSON; `fromJson` parses it. */
export interface ExportedTurn {
  /** The version of the line format. */
  readonly allium: 1
  readonly key: SessionKey
  /** The version that the turn created; absent for a run that is still open or was lost with its process. */
  readonly version?: number
  readonly turn: StoredTurn
}

export interface ExportOptions {
  /** The tenant whose sessions are exported. */
  tenant: string
  /** @default all owners of the tenant */
  owner?: string | undefined
}

const optionKeys: KeysOf<ExportOptions> = { tenant: true, owner: true }

/**
 * Exports all turns of a tenant or of one of its owners, one line of JSON each. Use it for a data access request, a backup, or a
 * move to another store with `importSessions`. Encrypted data is exported in clear text.
 *
 * A session that changes during the export is exported in its state when it is read. A new session may be missing.
 *
 * @example
 * for await (const line of exportSessions(store.sessions, { tenant: 'acme' })) file.write(`${line}\n`)
 */
export async function* exportSessions(store: SessionStore, options: ExportOptions): AsyncGenerator<string, void> {
  checkOptions(options ?? null, optionKeys, 'exportSessions()', 'options.invalid')
  const { tenant, owner } = options
  for (const key of await keysOf(store, owner === undefined ? { tenant } : { tenant, owner })) {
    let version = 1
    for (; ; version++) {
      const turn = await store.find(key, { version })
      if (turn === undefined) break
      yield toJson({ allium: 1, key, version, turn } satisfies ExportedTurn)
    }
    const { open } = (await store.load(key)) ?? {}
    if (open !== undefined) yield toJson({ allium: 1, key, turn: open } satisfies ExportedTurn)
  }
}

/** Lists all keys before any session is read, because a list ordered by time shifts while sessions change. */
async function keysOf(store: SessionStore, scope: { tenant: string; owner?: string }): Promise<SessionKey[]> {
  const keys = new Map<string, SessionKey>()
  for (let cursor: string | undefined; ; ) {
    const page = await store.list({ ...scope, limit: 500, ...(cursor !== undefined && { cursor }) })
    for (const { key } of page.items) keys.set(JSON.stringify([key.owner, key.agent, key.sessionId]), key)
    cursor = page.cursor
    if (cursor === undefined) return [...keys.values()]
  }
}
