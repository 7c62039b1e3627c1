import { AlliumError, type Clock, isAlliumError, type SessionKey, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { PassageStore, SessionStore } from '@allium/store'
import { loadLanguage, type RecallLanguage, recallLanguages } from '../recall/language.ts'
import { placeAfter, sortedKeys, toPlace } from './places.ts'
import { reindexSession } from './reindex-session.ts'

export interface ReindexOptions {
  /** The store of the agents: its sessions and passages. */
  store: { readonly sessions: SessionStore; readonly passages: PassageStore }
  tenant: string
  /** @default all owners of the tenant */
  owner?: string | undefined
  /** The agents that have `memory.recall`: the `sessionGroup` or the `name` of each. */
  agents: readonly string[]
  /** As for `memory.recall`. @default 'en' */
  language?: RecallLanguage | undefined
  /** As for `memory.recall`. @default 'guard:flow:labels' */
  labelsKey?: string | undefined
  /** The `cursor` of the last session that was done, to continue from there. @default from the beginning */
  cursor?: string | undefined
  /** @default the system clock */
  clock?: Clock | undefined
}

/** What was done with a session. */
export interface ReindexedSession {
  readonly key: SessionKey
  /** Pass it to continue behind this session. */
  readonly cursor: string
  /** How many sessions are done, and how many there are. */
  readonly done: number
  readonly total: number
  /** The number of written passages. */
  readonly passages: number
  /**
   * Why it was left as it is: memory is off, the session was deleted or changed again and again, or it cannot be read, as without the key of
   * its tenant.
   */
  readonly skipped?: 'off' | 'changed' | 'unreadable'
}

const optionKeys: KeysOf<ReindexOptions> = {
  store: true,
  tenant: true,
  owner: true,
  agents: true,
  language: true,
  labelsKey: true,
  cursor: true,
  clock: true,
}

/**
 * Writes the passages of stored sessions again, from their messages: for conversations from before `memory.recall`, or after its `language`
 * changed. It runs beside servers, holds no lease, and may be stopped and continued. Yields each session when it is done.
 *
 * A session that gets a turn meanwhile is begun again. Sessions that are stored after the start write their own passages.
 *
 * @throws AlliumError `options.invalid`; `store.unavailable`
 * @example
 * for await (const { done, total } of reindex({ store, tenant: 'acme', agents: ['support'] })) console.log(`${done} of ${total}`)
 */
export async function* reindex(options: ReindexOptions): AsyncGenerator<ReindexedSession, void> {
  checkOptions(options ?? null, optionKeys, 'reindex()', 'options.invalid')
  const { store, tenant, owner, agents, language: code = 'en', labelsKey = 'guard:flow:labels' } = options
  const { cursor, clock = systemClock } = options
  if (!recallLanguages.includes(code))
    throw new AlliumError(
      'options.invalid',
      `reindex() got the language ${JSON.stringify(code)}. Pass one of ${recallLanguages.join(', ')}.`,
    )
  const isAfter = cursor === undefined ? () => true : placeAfter(cursor)
  const language = await loadLanguage(code)
  const keys = await sortedKeys(store.sessions, { tenant, agents, ...(owner !== undefined && { owner }) })
  const { length: total } = keys
  for (const [index, key] of keys.entries()) {
    if (!isAfter(key)) continue
    const result = await reindexSession(store, key, { language, labelsKey, clock }).catch(unreadable)
    yield { key, cursor: toPlace(key), done: index + 1, total, ...result }
  }
}

/** Another session may be readable. */
function unreadable(error: unknown): { passages: number; skipped: 'unreadable' } {
  if (isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt'))
    return { passages: 0, skipped: 'unreadable' }
  throw error
}
