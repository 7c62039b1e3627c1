import {
  type HookInfo,
  type HookRun,
  type ModelContext,
  messageOf,
  type ToolContext,
  type TurnView,
} from '@allium/core'
import { isThenable } from '@allium/core/internal'
import type { RecordedDecision } from './recorded-turn.ts'

/** A hook that is running. */
interface OpenHook {
  readonly hook: HookInfo
  readonly ctx: TurnView
  /** How often it called next(). */
  nexts: number
  /** Whether a layer inside or the core ran in its last next(). */
  entered: boolean
  /** The last rejection of next(). */
  thrown: { readonly error: unknown } | undefined
  /** How the last next() ended the call for good: denied or suspended. */
  ended: unknown
}

/** Finds the layer that decided something, by watching every hook. */
export class DecisionRecorder {
  /** The hook whose next() is on the stack. */
  #current: OpenHook | undefined

  /** @param decided receives the decisions of the turn of `ctx` */
  run(hook: HookInfo, ctx: TurnView, next: Parameters<HookRun>[1], decided: (decision: RecordedDecision) => void) {
    const open: OpenHook = { hook, ctx, nexts: 0, entered: false, thrown: undefined, ended: undefined }
    if (this.#current !== undefined) this.#current.entered = true
    const watched: typeof next = (options) => {
      open.nexts++
      open.entered = false
      open.thrown = open.ended = undefined
      const running = this.#inside(open, () => next(options))
      running.then(
        (value) => (open.ended = endOf(value)),
        (error) => (open.thrown = { error }),
      )
      return running
    }
    const returned = (value: unknown) => {
      note(open, value, decided)
      return value
    }
    const failed = (error: unknown): never => {
      if (hook.layer !== undefined ? open.thrown?.error !== error : !open.entered)
        decided(decisionOf(open, 'failed', messageOf(error)))
      throw error
    }
    let outcome: unknown
    try {
      outcome = hook.run(ctx as never, watched)
    } catch (error) {
      return failed(error)
    }
    return isThenable(outcome) ? outcome.then(returned, failed) : returned(outcome)
  }

  #inside<T>(open: OpenHook, run: () => T): T {
    const previous = this.#current
    this.#current = open
    try {
      return run()
    } finally {
      this.#current = previous
    }
  }
}

/** Notes what a hook that returned has decided, if anything. */
function note(open: OpenHook, value: unknown, decided: (decision: RecordedDecision) => void): void {
  const { hook, nexts, thrown, ended, entered } = open
  const end = endOf(value)
  if (end !== undefined) {
    const isOwn = ended === undefined || (!entered && hook.layer !== undefined)
    if (isOwn) decided(decisionOf(open, end.decision, end.reason))
  } else if (hook.layer === undefined) return
  else if (nexts === 0 || (!entered && thrown === undefined)) decided(decisionOf(open, 'skipped'))
  else if (thrown !== undefined) decided(decisionOf(open, 'recovered', messageOf(thrown.error)))
  else if (nexts > 1) decided(decisionOf(open, 'retried'))
}

function decisionOf(
  { hook, ctx }: OpenHook,
  decision: RecordedDecision['decision'],
  reason?: string,
): RecordedDecision {
  const { layer, scope } = hook
  const call =
    scope === 'tool' ? (ctx as ToolContext).callId : scope === 'model' ? (ctx as ModelContext).callIndex : undefined
  return {
    turnId: ctx.turnId,
    ...(layer !== undefined && { layer }),
    scope: scope as RecordedDecision['scope'],
    ...(call !== undefined && { call }),
    decision,
    ...(reason !== undefined && { reason }),
  }
}

/** Returns how the result of a tool call ended it for good. */
function endOf(value: unknown): { decision: 'denied' | 'suspended'; reason?: string } | undefined {
  const { status, content } = (value ?? {}) as { status?: unknown; content?: unknown }
  if (status !== 'denied' && status !== 'suspended') return undefined
  return { decision: status, ...(status === 'denied' && typeof content === 'string' && { reason: content }) }
}
