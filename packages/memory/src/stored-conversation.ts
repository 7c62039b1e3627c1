import {
  AlliumError,
  type Lease,
  type Message,
  messageOf,
  type SessionContext,
  type SessionKeeper,
  type SessionKey,
  type SessionStore,
  type StoredTurn,
} from '@allium/core'

/** One session and its place in the store. */
export class StoredConversation implements SessionKeeper {
  readonly #store: SessionStore
  readonly #key: SessionKey
  readonly #ms: number
  readonly #ctx: SessionContext
  #version = 0
  /** Messages that the store has, and the first of them here: another one once the history was set anew. */
  #stored: { length: number; first: unknown } = { length: 0, first: undefined }
  #lease: Lease | undefined
  #stopRenewing = () => {}

  constructor(store: SessionStore, key: SessionKey, ms: number, ctx: SessionContext) {
    this.#store = store
    this.#key = key
    this.#ms = ms
    this.#ctx = ctx
  }

  /** Takes over what is stored, if anything is. */
  async load(): Promise<void> {
    const stored = await this.#store.load(this.#key)
    this.#version = stored?.version ?? 0
    if (stored === undefined) return
    this.#ctx.restore({ ...stored.rest, history: stored.history })
    this.#stored = { length: stored.history.length, first: this.#ctx.history[0] }
  }

  /** @throws AlliumError `session.busy` while another process runs the session */
  async begin(abort: (reason: unknown) => void): Promise<void> {
    const lease = await this.#store.acquire(this.#key, this.#ms)
    if (lease === undefined)
      throw new AlliumError(
        'session.busy',
        `The session "${this.#key.sessionId}" runs a turn elsewhere. Try again when that has ended.`,
        { details: { sessionId: this.#key.sessionId } },
      )
    this.#lease = lease
    this.#renew(lease, abort)
    if (lease.version !== this.#version) await this.load()
  }

  async end(turn: StoredTurn | undefined): Promise<void> {
    const lease = this.#lease
    if (lease === undefined) return
    this.#lease = undefined
    this.#stopRenewing()
    try {
      if (turn === undefined) return
      await this.#store.append(lease, this.#version, this.#whole(turn))
      this.#version++
      this.#stored = { length: this.#ctx.history.length, first: this.#ctx.history[0] }
    } finally {
      await this.#store.release(lease).catch((error) => this.#warn('could not be released', error))
    }
  }

  /** With what came into the history between runs: pushed, or given to `session.restore()`. */
  #whole(turn: StoredTurn): StoredTurn {
    const { history } = this.#ctx
    const { length, first } = this.#stored
    const from = history[0] === first ? Math.min(length, turn.from) : 0
    return from === turn.from ? turn : { ...turn, from, messages: history.slice(from) as Message[] }
  }

  /** Well before the lease runs out, and again; a failure is tried again the next time. A run that lost it cannot be stored, and ends. */
  #renew(lease: Lease, abort: (reason: unknown) => void): void {
    this.#stopRenewing = this.#ctx.clock.after(this.#ms / 3, () => {
      this.#renew(lease, abort)
      this.#store.renew(lease, this.#ms).then(
        (held) => held || abort(this.#lost()),
        (error) => this.#warn('could not be renewed', error),
      )
    })
  }

  #lost(): AlliumError {
    return new AlliumError(
      'store.fenced',
      `The lease of the session "${this.#key.sessionId}" was lost while it ran: another process may have gone on. The run is aborted.`,
    )
  }

  #warn(what: string, error: unknown): void {
    this.#ctx.logger.warn(`The lease of the session "${this.#key.sessionId}" ${what}: ${messageOf(error)}`, { error })
  }
}
