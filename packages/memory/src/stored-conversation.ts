import {
  AlliumError,
  type Lease,
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
  #lease: Lease | undefined
  #stopRenewing = () => {}

  constructor(store: SessionStore, key: SessionKey, ms: number, ctx: SessionContext) {
    this.#store = store
    this.#key = key
    this.#ms = ms
    this.#ctx = ctx
  }

  /** Takes over what is stored, unless that is what the session has; of one that was deleted nothing stays. */
  async load(): Promise<void> {
    const { version, history, rest } = (await this.#store.load(this.#key)) ?? {
      version: 0,
      history: [],
      rest: { state: {} },
    }
    if (version === this.#version) return
    this.#version = version
    this.#ctx.restore({ ...rest, history }, { stored: true })
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
      await this.#store.append(lease, this.#version, turn)
      this.#version++
    } finally {
      await this.#store.release(lease).catch((error) => this.#warn('could not be released', error))
    }
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
