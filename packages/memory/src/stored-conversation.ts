import {
  AlliumError,
  type Lease,
  messageOf,
  type SessionContext,
  type SessionKey,
  type StoredTurn,
  type WrappedRun,
  type WrappedStep,
} from '@allium/core'
import { interruptedTurn } from '@allium/core/internal'
import type { Checkpoint, SessionStore, StoredSession } from '@allium/store'
import { checkKnownTurn } from './known-turn.ts'

const emptySession = { version: 0, history: [], rest: { state: {} } }

/** A session and its record in the store. */
export class StoredConversation {
  readonly #store: SessionStore
  readonly #key: SessionKey
  readonly #leaseDuration: number
  #ctx: SessionContext
  #version = 0
  #lease: Lease | undefined
  /** The lease belongs to the run's journal, whose owner renews and releases it. */
  #shared = false
  /** The run that the store rejected. Its data in the store is void, because the caller received the error. */
  #rejectedTurnId: string | undefined
  /** How many calls and records the last checkpoint had. */
  #stored = { calls: 0, records: 0 }
  #stopRenewing = () => {}
  /** A lease that is being released. The next run waits for it before it acquires its own. */
  #releasing: Promise<void> | undefined

  constructor(store: SessionStore, leaseDuration: number, ctx: SessionContext) {
    this.#store = store
    this.#key = { ...ctx.sessionKey }
    this.#leaseDuration = leaseDuration
    this.#ctx = ctx
  }

  /** The lease of the current run. */
  get lease(): Lease | undefined {
    return this.#lease
  }

  /** Loads the stored session unless this session already has its content. Clears the session if the stored one was deleted. */
  async load(ctx: SessionContext): Promise<void> {
    const stored = (await this.#store.load(this.#key)) ?? (await this.#loadRenamed())
    this.#restore(stored, () => {
      // Throws here if the opening was aborted meanwhile, before this context becomes the session's.
      void ctx.history
      this.#ctx = ctx
    })
  }

  /** Loads the session under another current or former name of the agent. */
  async #loadRenamed(): Promise<StoredSession | undefined> {
    const names = this.#ctx.agent.sessionNames.filter((name) => name !== this.#key.agent)
    if (names.length === 0 || !(await this.#store.rename(this.#key, names))) return undefined
    return this.#store.load(this.#key)
  }

  /** @param check throws when the opening was abandoned */
  #restore(
    { version, history, rest }: Pick<StoredSession, 'version' | 'history' | 'rest'> = emptySession,
    check: () => void,
  ): void {
    check()
    if (version === this.#version) return
    this.#version = version
    this.#ctx.restore({ ...rest, history }, { stored: true })
  }

  /**
   * Runs a turn under the lease of the session, and appends it. Returns the earlier run with the same id or idempotency
   * key, if there is one.
   *
   * @throws AlliumError `session.busy` while another process runs the session; `run.key_reused`
   */
  async aroundRun(run: WrappedRun, next: () => Promise<StoredTurn>): Promise<StoredTurn> {
    const lease = await this.#acquireLease(run)
    this.#lease = lease
    try {
      const knownTurn = await this.#begin(lease, run)
      if (knownTurn !== undefined) return knownTurn
      const turn = await next()
      await this.#append(lease, turn)
      return turn
    } finally {
      await this.#returnLease(lease)
    }
  }

  /** Loads what other processes have appended, and returns the earlier run. An abort returns the lease at once. */
  async #begin(lease: Lease, run: WrappedRun): Promise<StoredTurn | undefined> {
    const { signal } = run
    const releaseOnAbort = () => this.#returnLease(lease)
    signal.addEventListener('abort', releaseOnAbort)
    try {
      if (lease.version !== this.#version || lease.open === true) await this.#takeOver(lease, run)
      return await this.#findKnownTurn(run)
    } finally {
      signal.removeEventListener('abort', releaseOnAbort)
    }
  }

  async #acquireLease({ journal, abort, signal }: WrappedRun): Promise<Lease> {
    const given = journal?.lease
    await this.#releasing
    signal.throwIfAborted()
    this.#shared = given !== undefined && isSame(given.key, this.#key)
    if (given !== undefined && this.#shared) return given
    const { lease, heldUntil } = await this.#store.acquire(this.#key, this.#leaseDuration)
    if (signal.aborted) {
      if (lease !== undefined) await this.#release(lease)
      throw signal.reason
    }
    if (lease === undefined) throw this.#busyError(heldUntil)
    this.#renew(lease, abort)
    return lease
  }

  /** Releases this lease only, because another run may already have its own. */
  async #returnLease(lease: Lease): Promise<void> {
    if (this.#lease !== lease) return
    this.#lease = undefined
    this.#stopRenewing()
    await this.#release(lease)
  }

  async #findKnownTurn(run: WrappedRun): Promise<StoredTurn | undefined> {
    const { turnId, given, idempotencyKey } = run
    // A run that shares its lease would not run if its turn had ended.
    const [byId, byKey] = [given && !this.#shared && { turnId }, idempotencyKey !== undefined && { idempotencyKey }]
    const knownTurn =
      (byId && (await this.#findEndedTurn(byId))) || (byKey && (await this.#findEndedTurn(byKey))) || undefined
    if (knownTurn !== undefined) checkKnownTurn(knownTurn, run, this.#ctx)
    return knownTurn
  }

  async #findEndedTurn(by: { turnId: string } | { idempotencyKey: string }): Promise<StoredTurn | undefined> {
    const knownTurn = await this.#store.find(this.#key, by)
    return knownTurn?.status === 'running' || knownTurn?.turnId === this.#rejectedTurnId ? undefined : knownTurn
  }

  /** Stores a checkpoint before the step. With a shared lease, the run's journal replaces it. */
  async aroundStep(step: WrappedStep, next: () => Promise<void>): Promise<void> {
    const lease = this.#lease
    if (lease !== undefined && !this.#shared) {
      const checkpoint = this.#checkpointOf(step)
      await this.#write(lease, () => this.#store.checkpoint(lease, this.#version, checkpoint))
    }
    await next()
  }

  /** Leaves out the calls and records of the checkpoint before, as the step leaves out its messages. They do not change. */
  #checkpointOf({ unchanged, turn }: WrappedStep): Checkpoint {
    const { calls = [], records = [] } = turn
    const after = { messages: unchanged, calls: 0, records: 0, ...(unchanged > 0 && this.#stored) }
    this.#stored = { calls: calls.length, records: records.length }
    return { ...turn, after, calls: calls.slice(after.calls), records: records.slice(after.records) }
  }

  async #append(lease: Lease, turn: StoredTurn): Promise<void> {
    this.#lease = undefined
    this.#stopRenewing()
    try {
      await this.#write(lease, () => this.#store.append(lease, this.#version, turn, { release: true }))
      this.#version++
    } catch (error) {
      this.#rejectedTurnId = turn.turnId
      await this.#release(lease)
      throw error
    }
  }

  find(turnId: string): Promise<StoredTurn | undefined> {
    return this.#store.find(this.#key, { turnId })
  }

  /** Records that a run with a lost process has ended, unless it is the run that continues now. */
  async #takeOver(lease: Lease, { turnId, given, journal, signal }: WrappedRun): Promise<void> {
    const check = () => signal.throwIfAborted()
    const stored = await this.#store.load(this.#key)
    check()
    const { open } = stored ?? {}
    const replays = given && journal?.compares !== false
    const isResumed = open?.turnId === this.#rejectedTurnId || (replays && open?.turnId === turnId)
    if (stored === undefined || open === undefined || isResumed) return this.#restore(stored, check)
    const interrupted = interruptedTurn(open, this.#ctx.clock.now())
    await this.#write(lease, () => this.#store.append(lease, stored.version, interrupted))
    check()
    const history = [...stored.history.slice(0, interrupted.from), ...interrupted.messages]
    this.#restore({ ...stored, version: stored.version + 1, history, rest: interrupted.rest }, check)
  }

  /**
   * Renews the lease and retries the write if the process or the store paused for longer than the lease and no other process took the
   * session. That may happen before each attempt, so there are several.
   */
  async #write(lease: Lease, write: () => Promise<void>, retries = 5): Promise<void> {
    try {
      await write()
    } catch (error) {
      const isFenced = (error as { code?: unknown }).code === 'store.fenced'
      if (this.#shared || !isFenced || retries === 0 || !(await this.#store.renew(lease, this.#leaseDuration)))
        throw error
      await this.#write(lease, write, retries - 1)
    }
  }

  async #release(lease: Lease): Promise<void> {
    if (this.#shared) return
    const releasing = this.#store
      .release(lease)
      .catch((error) => this.#warn('could not be released', error))
      .finally(() => {
        if (this.#releasing === releasing) this.#releasing = undefined
      })
    this.#releasing = releasing
    await releasing
  }

  #busyError(heldUntil: number): AlliumError {
    const { sessionId } = this.#key
    const what = `The session "${sessionId}" is running a turn elsewhere. Try again when it has ended.`
    return new AlliumError('session.busy', what, { details: { sessionId, heldUntil } })
  }

  /**
   * Renews the lease well before it expires. A failed renewal is retried at the next interval. A run that lost its lease cannot be stored,
   * so it is aborted.
   */
  #renew(lease: Lease, abort: (reason: unknown) => void): void {
    this.#stopRenewing = this.#ctx.clock.after(this.#leaseDuration / 3, () => {
      this.#renew(lease, abort)
      this.#store.renew(lease, this.#leaseDuration).then(
        (isHeld) => isHeld || abort(this.#leaseLostError()),
        (error) => this.#warn('could not be renewed', error),
      )
    })
  }

  #leaseLostError(): AlliumError {
    return new AlliumError(
      'store.fenced',
      `The lease of the session "${this.#key.sessionId}" was lost during the run: another process may have continued the session. The run is aborted.`,
    )
  }

  #warn(what: string, error: unknown): void {
    this.#ctx.logger.warn(`The lease of the session "${this.#key.sessionId}" ${what}: ${messageOf(error)}`, { error })
  }
}

function isSame(a: SessionKey, b: SessionKey): boolean {
  return a.tenant === b.tenant && a.owner === b.owner && a.agent === b.agent && a.sessionId === b.sessionId
}
