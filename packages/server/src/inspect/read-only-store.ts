import {
  AlliumError,
  type Clock,
  isAlliumError,
  messageOf,
  ownerOf,
  type RegisteredPrincipal,
  type SessionKey,
} from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { AuditSinkInput } from '@allium/observe'
import { type AuditLog, auditLog } from '@allium/observe/audit-log'
import type { SessionHead, SessionStore } from '@allium/store'
import type { Caller } from '../request/caller.ts'
import { sessionNotFound } from '../request/not-found.ts'

/** Another session store, of which the inspector reads sessions and changes none. */
export interface ReadOnlyStore {
  readonly sessions: Pick<SessionStore, 'load' | 'head' | 'history' | 'find' | 'list'>
  /** The destination of audit records, as for `observe.audit`: each look at the content of a session. */
  readonly audit: AuditSinkInput
  /** The secret of the audit chains, if `observe.audit` writes them with one. @default none */
  readonly auditSecret?: string | Uint8Array | undefined
  /** Returns the name of the reader for the audit. @default the user of the principal */
  readonly reader?: ((principal: RegisteredPrincipal) => string) | undefined
  /** Whether sessions may be copied to this server. @default true */
  readonly copies?: boolean | undefined
}

const optionKeys: KeysOf<ReadOnlyStore> = { sessions: true, audit: true, auditSecret: true, reader: true, copies: true }

/** @throws AlliumError `server.options` */
export function checkReadOnlyStore(store: ReadOnlyStore): void {
  checkOptions(store, optionKeys, 'readOnly of inspector()', 'server.options')
  if (typeof store.sessions?.load !== 'function' || store.audit === undefined)
    throw new AlliumError(
      'server.options',
      'The option readOnly of inspector() needs sessions, the sessions of a store, and audit, which records each access.',
    )
}

/** How a look uses the content of a session. */
type Look = 'turns' | 'file' | 'copy'

/** Reads the sessions of a read-only store, and records each look in the audit before it returns content. */
export class AuditedSessions {
  readonly #store: ReadOnlyStore
  readonly #log: AuditLog

  constructor(store: ReadOnlyStore, clock: Clock) {
    this.#store = store
    this.#log = auditLog({ sink: store.audit, secret: store.auditSecret, clock })
  }

  get list(): SessionStore['list'] {
    return (of) => this.#store.sessions.list(of)
  }

  /**
   * Returns a session after the look was recorded, or the reason why its content cannot be opened. Sealed content is not a look: the
   * audit of a sealed store needs the same key.
   *
   * @throws AlliumError `session.not_found`; `store.unavailable` if the audit did not record the look
   */
  async open(look: Look, caller: Caller, { owner, id }: { owner: string; id: string }): Promise<OpenedSession> {
    const { tenant, principal, agent } = caller
    for (const name of agent.sessionNames) {
      const opened = await this.#load({ tenant, owner, agent: name, sessionId: id })
      if (opened === undefined) continue
      if (opened.sealed === undefined) await this.#record(look, opened.key, principal)
      return opened
    }
    throw sessionNotFound(id)
  }

  async #load(key: SessionKey): Promise<OpenedSession | undefined> {
    const { sessions } = this.#store
    try {
      const head = await sessions.head(key)
      return head && { key, head, sessions }
    } catch (error) {
      return { key, sealed: sealedReason(error) }
    }
  }

  async #record(look: Look, { tenant, owner, agent, sessionId }: SessionKey, principal: unknown): Promise<void> {
    const by = this.#store.reader?.(principal) ?? ownerOf(principal) ?? ''
    const type = `inspect:${look}`
    await this.#log.append({ type, tenant, user: owner, agent, session: sessionId, operator: by }).catch((cause) => {
      throw new AlliumError(
        'store.unavailable',
        `The audit could not record the access to the session "${sessionId}", so nothing is shown: ${messageOf(cause)} Check the audit and try again.`,
        { cause },
      )
    })
  }
}

/** A session of a read-only store. */
export type OpenedSession =
  | {
      readonly key: SessionKey
      readonly head: SessionHead
      readonly sessions: ReadOnlyStore['sessions']
      readonly sealed?: undefined
    }
  | { readonly key: SessionKey; readonly sealed: string; readonly sessions?: undefined }

/** Returns why content cannot be opened. Throws other errors. Without a key, sealed content looks like damaged content. */
export function sealedReason(error: unknown): string {
  if (isAlliumError(error, 'store.sealed') || isAlliumError(error, 'store.corrupt')) return error.code
  throw error
}
