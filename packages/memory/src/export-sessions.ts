import { checkOptions, type KeysOf, type SessionKey, type SessionStore, type StoredTurn, toJson } from '@allium/core'

/** A line of an export, as JSON: `fromJson` reads it. */
export interface ExportedTurn {
  /** Of the line's form. */
  readonly allium: 1
  /** Exports of earlier versions have no `agent` in it. */
  readonly key: SessionKey
  /** The version that the turn made; absent for the run that goes on, or was lost with its process. */
  readonly version?: number
  readonly turn: StoredTurn
}

export interface ExportOptions {
  /** Whose sessions. */
  tenant: string
  /** @default all owners of the tenant */
  owner?: string | undefined
}

const optionKeys: KeysOf<ExportOptions> = { tenant: true, owner: true }

/**
 * All turns of a tenant, or of one owner in it, one line of JSON each, for a request of privacy, a backup, or the move to another
 * store with `importSessions`. What was sealed is in clear in it.
 *
 * Sessions that are changed meanwhile are exported as they are when their turn comes; one that is new may be missing.
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

/** Before any is read: a list by time moves while sessions are changed. */
async function keysOf(store: SessionStore, scope: { tenant: string; owner?: string }): Promise<SessionKey[]> {
  const keys = new Map<string, SessionKey>()
  for (let cursor: string | undefined; ; ) {
    const page = await store.list({ ...scope, limit: 500, ...(cursor !== undefined && { cursor }) })
    for (const { key } of page.items) keys.set(JSON.stringify([key.owner, key.agent, key.sessionId]), key)
    cursor = page.cursor
    if (cursor === undefined) return [...keys.values()]
  }
}
