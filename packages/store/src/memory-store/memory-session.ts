import { type Message, type SessionKey, type StoredTurn, toJson } from '@allium/core'
import type { MemoryPassage } from '../passages/memory-passage.ts'
import type {
  FindBy,
  HistoryTurn,
  ReadFiles,
  SessionHead,
  SessionSummary,
  StoredPendingCall,
  StoredSession,
} from '../session-store.ts'
import { ownCopy, withoutFiles } from './copy.ts'

/** One session in the memory store: every appended turn, and the lease. */
export class MemorySession {
  readonly turns: StoredTurn[] = []
  open: StoredTurn | undefined
  /** By their position. */
  passages: readonly MemoryPassage[] = []
  /** Wall-clock time. */
  updatedAt = 0
  /** Token and expiry of the last lease. `until` is 0 once the lease is released. */
  token = 0
  until = 0

  constructor(public key: SessionKey) {}

  /** Whether the session was only leased and has no turns. */
  get isEmpty(): boolean {
    return this.last === undefined && this.open === undefined
  }

  has(turnId: string): boolean {
    return this.turns.some((turn) => turn.turnId === turnId)
  }
  get version(): number {
    return this.turns.length
  }
  get last(): StoredTurn | undefined {
    return this.turns.at(-1)
  }

  /** Returns the session after `version` turns; undefined if nothing was stored by then. */
  loaded(version = this.turns.length): StoredSession | undefined {
    const last = this.turns[version - 1]
    const open = version === this.version ? this.open : undefined
    if (last === undefined && open === undefined) return undefined
    const session: StoredSession = {
      version,
      owner: this.key.owner,
      history: this.#history(version),
      rest: last?.rest ?? { state: {} },
    }
    if (open !== undefined) session.open = open
    return ownCopy(session)
  }

  /** Returns the session after its last turn, or after a run, without its messages. */
  head(turnId = this.last?.turnId): SessionHead | undefined {
    const index = this.turns.findLastIndex((turn) => turn.turnId === turnId)
    if (index === -1 && (turnId !== undefined || this.open === undefined)) return undefined
    return { version: index + 1, rest: ownCopy(this.turns[index]?.rest ?? { state: {} }) }
  }

  /** Returns the runs with the last messages before an index, newest first, and the open run. */
  page(before: number, limit: number): HistoryTurn[] {
    const { open } = this
    const page: HistoryTurn[] = []
    if (open !== undefined)
      page.push({ ...historyTurn(open), ...(open.resumes !== undefined && { resumes: open.resumes }) })
    let from = Math.min(before, this.length)
    const end = from - limit
    for (let version = this.version; version > 0 && from > end; version--) {
      const turn = this.turns[version - 1] as StoredTurn
      if (turn.from < from) page.push({ ...historyTurn(turn), version })
      from = Math.min(from, turn.from)
    }
    return page
  }

  /** The number of messages of the history. */
  get length(): number {
    return this.last === undefined ? 0 : this.last.from + this.last.messages.length
  }

  #history(version: number): Message[] {
    const history: Message[] = []
    for (const { from, messages } of this.turns.slice(0, version)) {
      history.length = from
      for (const message of messages) history.push(message)
    }
    return history
  }

  find(by: FindBy, files?: ReadFiles): StoredTurn | undefined {
    const turn = this.#find(by)
    return ownCopy(turn && files === 'onDemand' ? { ...turn, messages: withoutFiles(turn.messages) } : turn)
  }

  #find(by: FindBy): StoredTurn | undefined {
    if ('version' in by) return this.turns[by.version - 1]
    const all = this.open === undefined ? this.turns : [...this.turns, this.open]
    return all.find((turn) => ('turnId' in by ? turn.turnId === by.turnId : turn.idempotencyKey === by.idempotencyKey))
  }

  summary(): SessionSummary | undefined {
    const { key, version, last, open, updatedAt } = this
    const status = open?.status ?? last?.status
    return status === undefined ? undefined : { key: { ...key }, version, status, updatedAt }
  }

  pendingCalls(): StoredPendingCall[] {
    const { key, last } = this
    const { turnId = '', calls = {} } = last?.rest.suspension ?? {}
    return Object.entries(calls).map(([callId, { name, expiresAt }]) => ({
      key: { ...key },
      turnId,
      callId,
      name,
      ...(expiresAt !== undefined && { expiresAt }),
    }))
  }
}

function historyTurn({ turnId, from, messages }: StoredTurn): HistoryTurn {
  return ownCopy({ turnId, from, messages: withoutFiles(messages) })
}

/** Whether two turns are equal in every field. */
export function sameTurn(a: StoredTurn, b: StoredTurn): boolean {
  return toJson(sorted(a)) === toJson(sorted(b))
}

/** Sorts the keys and drops undefined values. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  )
}
