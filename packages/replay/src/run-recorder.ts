import {
  type Clock,
  followSignal,
  type HookInfo,
  type ModelContext,
  messageOf,
  misconfigured,
  type SessionContext,
  type StoredTurn,
  type TurnContext,
  type TurnView,
  type WrappedRun,
  writerOf,
} from '@allium/core'
import { type AgentStore, type Ledger, sharedStore } from '@allium/store'
import { beingReplayed } from './being-replayed.ts'
import { DecisionWatcher } from './decisions/decision-watcher.ts'
import { LiveTurns } from './live-turns.ts'
import type { RecordingSink, RecordOptions } from './record-options.ts'
import { contentOf } from './recording-content.ts'
import { Counts } from './recording-counts.ts'
import { TurnRecorder } from './turn-recorder.ts'
import { watchJournal } from './watch-journal.ts'
import { watchLedger } from './watch-ledger.ts'

type Settings = Omit<RecordOptions, 'as'>

/** A session, and the clock that it was opened with. */
export interface RecordedSession {
  readonly ctx: SessionContext
  readonly clock: Clock
  /** The recording that is being stored. There is one at a time. */
  storing?: Promise<void>
}

/** Records the runs of an agent. */
export class RunRecorder {
  readonly counts = new Counts()
  readonly sample: number
  readonly maxBytes: number
  readonly expiresIn: number
  readonly #given: Settings
  readonly #live = new LiveTurns()
  readonly #ledgers = new WeakMap<Ledger, Ledger>()
  readonly #decisions = new DecisionWatcher()

  constructor(given: Settings) {
    this.#given = given
    this.sample = given.sample ?? 1
    this.maxBytes = given.maxBytes ?? 256_000
    this.expiresIn = given.expiresIn ?? 30 * 24 * 3_600_000
  }

  async around(session: RecordedSession, run: WrappedRun, proceed: () => Promise<StoredTurn>): Promise<StoredTurn> {
    const { ctx } = session
    const { journal, kind, turnId } = run
    if (kind !== 'run' || journal === undefined || ctx.find(beingReplayed) === true) return proceed()
    const store = this.#storeOf(ctx)
    const recorder = this.#isSkipped(run, ctx)
      ? undefined
      : new TurnRecorder(run, ctx, { maxBytes: this.maxBytes, clock: clockOf(session, run) })
    if (recorder === undefined || !this.#live.add(ctx, turnId, recorder)) {
      this.counts.skipped++
      return proceed()
    }
    run.journal = watchJournal(journal, recorder)
    run.clock = recorder.moments.watched.clock
    try {
      const turn = await proceed()
      await session.storing
      session.storing = this.#store(store, ctx, turn, recorder)
      return turn
    } finally {
      recorder.moments.watched.stop()
      this.#live.delete(ctx, turnId)
    }
  }

  wrapHooks(hook: HookInfo): HookInfo['run'] {
    const { layer, scope, run } = hook
    if (scope === 'agent' || scope === 'session') return run
    return (ctx: TurnView, next) => {
      const turn = this.#live.find(ctx)
      if (turn === undefined) return run(ctx as never, next)
      if (layer === undefined && scope === 'model') turn.requested(ctx as ModelContext)
      turn.entered(hook, ctx)
      return this.#decisions.run(hook, ctx, next, turn)
    }
  }

  /** Notes the messages that arrive while the turn runs, and its abort. */
  watchTurn(ctx: TurnContext): void {
    const turn = this.#live.find(ctx)
    if (turn === undefined) return
    const isRaw = !turn.hasEntered
    ctx.onInput((message, { steered }) => {
      if (steered) turn.steered(message, isRaw)
    })
    followSignal(ctx.signal, (reason) => turn.moments.aborted(reason))
  }

  /** Provides the agent's store to the session, with a ledger whose answers are recorded. */
  watchStore(ctx: SessionContext): void {
    const store = ctx.find(sharedStore)
    if (store?.ledger === undefined) return
    const ledger = this.watch(store.ledger)
    const get = (target: AgentStore, key: string | symbol) => (key === 'ledger' ? ledger : Reflect.get(target, key))
    ctx.provide(sharedStore, new Proxy(store, { get }))
  }

  /** The same ledger for the same one, because layers remember which ledger they use. */
  watch(ledger: Ledger): Ledger {
    const watched = this.#ledgers.get(ledger) ?? watchLedger(ledger, (run) => this.#live.ofRun(run)?.postings)
    this.#ledgers.set(ledger, watched).set(watched, watched)
    return watched
  }

  #storeOf(ctx: SessionContext): RecordingSink {
    const store = this.#given.store ?? ctx.find(sharedStore)?.recordings
    if (store === undefined)
      throw misconfigured(
        'replay:record',
        'has no store. Pass { store }, or give the agent a store that has recordings.',
      )
    return store
  }

  #isSkipped({ turnId, task }: WrappedRun, { agent, sessionId, principal, context }: SessionContext): boolean {
    if (this.sample < 1 && shareOf(turnId) >= this.sample) return true
    const own = (task?.options as { context?: unknown } | undefined)?.context ?? context
    try {
      return this.#given.skip?.({ agent: agent.name, sessionId, principal, context: own }) ?? false
    } catch {
      return true
    }
  }

  /**
   * Stores the recording, together with the turn: a store puts writes of the same moment into one transaction. The run has ended, so a
   * failure only goes to the logger.
   */
  async #store(store: RecordingSink, ctx: SessionContext, turn: StoredTurn, recorder: TurnRecorder): Promise<void> {
    const { sessionKey: key, logger } = ctx
    const { startedAt } = recorder
    try {
      const { content, reasons } = contentOf(await recorder.recording(turn), this.maxBytes, this.#given.scrub)
      const by = writerOf({ find: (one) => ctx.find(one), sessionKey: key, startedAt })
      const expiresAt = ctx.clock.now() + this.expiresIn
      await store.add({ key, turnId: turn.turnId, startedAt, expiresAt, content }, by)
      this.counts.add(reasons)
    } catch (error) {
      this.counts.failed++
      logger.warn(`The turn "${turn.turnId}" was not recorded: ${messageOf(error)}`, { error })
    }
  }
}

/** Returns a number from 0 to 1 that is the same for the same text: FNV-1a. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) / 2 ** 32
}

function clockOf({ clock }: RecordedSession, run: WrappedRun): Clock {
  return run.clock ?? (run.task?.options as { clock?: Clock } | undefined)?.clock ?? clock
}
