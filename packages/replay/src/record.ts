import {
  defineMiddleware,
  type HookInfo,
  layerOptions,
  type ModelContext,
  messageOf,
  misconfigured,
  option,
  type SessionContext,
  type StoredTurn,
  type TurnView,
  type TypedMiddleware,
  type WrappedRun,
  writerOf,
} from '@allium/core'
import { aroundRun } from '@allium/core/context'
import { type RecordingStore, sharedStore } from '@allium/store'
import { beingReplayed } from './being-replayed.ts'
import { DecisionRecorder } from './decision-recorder.ts'
import { LiveTurns } from './live-turns.ts'
import { contentOf } from './recording-content.ts'
import { Counts, type RecordingCounts } from './recording-counts.ts'
import { TurnRecorder } from './turn-recorder.ts'
import { watchJournal } from './watch-journal.ts'

/** A run that may be recorded. */
export interface RunToRecord {
  readonly agent: string
  readonly sessionId: string
  readonly principal: unknown
  readonly context: unknown
}

/** The part of `RecordingStore` that a recorder uses. */
export type RecordingSink = Pick<RecordingStore, 'add' | 'sealed'>

export interface RecordOptions {
  /** Where recordings are stored. @default the `recordings` of the agent's store */
  store?: RecordingSink | undefined
  /** The share of turns to record, from 0 to 1. The turn's id decides, so a restarted turn is sampled in the same way. @default 1 */
  sample?: number | undefined
  /** The largest recording, in bytes. Of a larger one only the result is kept. @default 256_000 */
  maxBytes?: number | undefined
  /** How long recordings are kept, in milliseconds. @default 30 days */
  expiresIn?: number | undefined
  /** Replaces each text of a recording before it is stored. @default texts as they are */
  scrub?: ((text: string) => string) | undefined
  /** Returns whether a run must not be recorded. A run that makes it throw is not recorded. @default every run is recorded */
  skip?: ((run: RunToRecord) => boolean) | undefined
  /** The layer's name. @default 'replay:record' */
  as?: string | undefined
}

export interface Recorder extends TypedMiddleware<{}> {
  /** Returns how many turns it recorded in this process, and why it did not record others. */
  counts(): RecordingCounts
}

const readOptions = layerOptions<RecordOptions>('replay:record', {
  store: option.object,
  sample: option.number({ from: 0, to: 1 }),
  maxBytes: option.whole(1),
  expiresIn: option.number({ above: 0 }),
  scrub: option.fn,
  skip: option.fn,
})

/**
 * Records each turn so that it can be replayed: its input before any layer changed it, every request as sent, raw chunks, tool results,
 * results of `ctx.once()` and the decisions of the layers, sub-agents included.
 *
 * Use it to find out what a changed agent would have done with the turns of last month. Register it inside `memory.persist`. It stores raw
 * texts, so next to a layer that redacts it needs a store with `encrypt`. A recording that fails does not fail its run.
 *
 * @example
 * agent.use(memory.persist({ store })).use(record({ store: store.recordings, sample: 0.1 }))
 */
export function record(options: RecordOptions = {}): Recorder {
  const { as = 'replay:record', ...given } = readOptions(options)
  const recorder = new RunRecorder(given)
  const { sample, maxBytes, expiresIn } = recorder
  const layer = defineMiddleware({
    name: as,
    inherit: true,
    options: { sample, maxBytes, expiresIn },
    order: { is: given.store?.sealed === true ? ['records'] : ['records', 'recordsRaw'], inside: ['sessionStorage'] },
    session(ctx, next) {
      aroundRun(ctx, (run, proceed) => recorder.around(run, ctx, proceed))
      return next()
    },
    wrapHooks: (hook) => recorder.wrapHooks(hook),
  })
  return Object.assign(layer, { counts: () => recorder.counts })
}

type Settings = Omit<RecordOptions, 'as'>

/** Records the runs of an agent. */
class RunRecorder {
  readonly counts = new Counts()
  readonly sample: number
  readonly maxBytes: number
  readonly expiresIn: number
  readonly #given: Settings
  readonly #live = new LiveTurns()
  readonly #decisions = new DecisionRecorder()

  constructor(given: Settings) {
    this.#given = given
    this.sample = given.sample ?? 1
    this.maxBytes = given.maxBytes ?? 256_000
    this.expiresIn = given.expiresIn ?? 30 * 24 * 3_600_000
  }

  async around(run: WrappedRun, ctx: SessionContext, proceed: () => Promise<StoredTurn>): Promise<StoredTurn> {
    const { journal, kind, turnId } = run
    if (kind !== 'run' || journal === undefined || ctx.find(beingReplayed) === true) return proceed()
    const store = this.#storeOf(ctx)
    const recorder = this.#isSkipped(run, ctx) ? undefined : new TurnRecorder(run, ctx, this.maxBytes)
    if (recorder === undefined || !this.#live.add(ctx.principal, turnId, recorder)) {
      this.counts.skipped++
      return proceed()
    }
    run.journal = watchJournal(journal, recorder)
    try {
      const turn = await proceed()
      await this.#store(store, ctx, turn, recorder)
      return turn
    } finally {
      this.#live.delete(ctx.principal, turnId)
    }
  }

  wrapHooks(hook: HookInfo): HookInfo['run'] {
    const { layer, scope, run } = hook
    if (scope === 'agent' || scope === 'session') return run
    return (ctx: TurnView, next) => {
      const turn = this.#live.find(ctx)
      if (turn === undefined) return run(ctx as never, next)
      if (layer === undefined && scope === 'model') turn.requested(ctx as ModelContext)
      return this.#decisions.run(hook, ctx, next, (decision) => turn.decided(decision))
    }
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

  /** Stores the recording. The run has ended, so a failure only goes to the logger. */
  async #store(store: RecordingSink, ctx: SessionContext, turn: StoredTurn, recorder: TurnRecorder): Promise<void> {
    const { sessionKey: key, logger } = ctx
    const { startedAt } = recorder
    try {
      const { content, reasons } = contentOf(recorder.recording(turn), this.maxBytes, this.#given.scrub)
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
