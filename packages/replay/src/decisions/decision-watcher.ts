import { type HookInfo, type HookRun, isBlockError, messageOf, type ToolContext, type TurnView } from '@allium/core'
import { isThenable } from '@allium/core/internal'
import type { Decision } from './decision-list.ts'

type Next = Parameters<HookRun>[1]

/** Receives what a hook decided. */
export interface DecisionSink {
  /** @param isHidden whether something inside the layer decided that is not watched, or the layer itself */
  decided(open: OpenHook, decision: Decision, isHidden?: boolean): void
  /** A hook of a tool call has returned. The last one of a call is the outermost. */
  returned(open: OpenHook): void
}

/** A hook that is running. */
export interface OpenHook {
  readonly hook: Pick<HookInfo, 'layer' | 'scope'>
  readonly ctx: TurnView
  /** How often it called next(). */
  readonly nexts: number
}

interface Running extends OpenHook {
  nexts: number
  /** Whether a hook ran in its last next(). */
  entered: boolean
  /** The last hook of the same call in its last next(). */
  inner: Running | undefined
  /** The last rejection of next(). */
  thrown: { readonly error: unknown } | undefined
  /** How the last next() ended the tool call for good. */
  ended: Decision | undefined
  /** Whether it is known who ended the tool call for good. */
  isKnown: boolean
}

/** Finds the layer that decided something, by watching every hook. */
export class DecisionWatcher {
  /** The hook whose next() is on the stack. */
  #current: Running | undefined

  /** Runs a hook. Its result and its errors pass through. */
  run(hook: HookInfo, ctx: TurnView, next: Next, sink: DecisionSink): unknown {
    const open = this.#open(hook, ctx)
    const watched: Next = (options) => {
      open.nexts++
      open.entered = false
      open.inner = open.thrown = open.ended = undefined
      const running = this.#inside(open, () => next(options))
      running.then(
        (value) => seen(open, value, sink),
        (error) => (open.thrown = { error }),
      )
      return running
    }
    const returned = (value: unknown) => {
      note(open, value, sink)
      return value
    }
    const failed = (error: unknown): never => {
      noteFailure(open, error, sink)
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

  #open(hook: HookInfo, ctx: TurnView): Running {
    const open: Running = {
      hook,
      ctx,
      nexts: 0,
      entered: false,
      inner: undefined,
      thrown: undefined,
      ended: undefined,
      isKnown: false,
    }
    const outer = this.#current
    if (outer === undefined) return open
    outer.entered = true
    if (outer.ctx.turnId === ctx.turnId && outer.hook.scope === hook.scope && callOf(outer) === callOf(open))
      outer.inner = open
    return open
  }

  #inside<T>(open: Running, run: () => T): T {
    const previous = this.#current
    this.#current = open
    try {
      return run()
    } finally {
      this.#current = previous
    }
  }
}

/** The id of the tool call; undefined in other scopes. */
function callOf({ hook, ctx }: OpenHook): string | undefined {
  return hook.scope === 'tool' ? (ctx as ToolContext).callId : undefined
}

/** Notes what next() returned. A layer may call ctx.deny() and return something else, so this counts. */
function seen(open: Running, value: unknown, sink: DecisionSink): void {
  const { hook, inner } = open
  if (hook.scope !== 'tool') return
  open.ended = endOf(value)
  if (open.ended === undefined) return
  if (inner?.isKnown === false) sink.decided(inner, open.ended)
  open.isKnown = inner !== undefined
}

/** Notes what a hook that returned has decided, if anything. */
function note(open: Running, value: unknown, sink: DecisionSink): void {
  const { hook, nexts, thrown, ended, entered, inner } = open
  if (hook.scope === 'tool') {
    const end = endOf(value)
    if (end !== undefined && (ended === undefined || inner === undefined)) {
      open.isKnown = true
      sink.decided(open, end, ended !== undefined && hook.layer !== undefined)
    }
    sink.returned(open)
    if (end !== undefined) return
  }
  if (hook.layer === undefined) return
  if (nexts === 0 || (!entered && thrown === undefined)) sink.decided(open, { decision: 'skipped', answer: value })
  else if (thrown !== undefined) sink.decided(open, { decision: 'recovered', reason: messageOf(thrown.error) })
  else if (nexts > 1) sink.decided(open, { decision: 'retried' })
}

/** Notes an error, unless it came from inside. */
function noteFailure(open: Running, error: unknown, sink: DecisionSink): void {
  const { hook, thrown, entered } = open
  if (hook.layer === undefined ? entered : thrown?.error === error) return
  // A block reaches what is inside the layer that blocked, too.
  if (isBlockError(error))
    return hook.layer === undefined ? undefined : sink.decided(open, { decision: 'blocked', reason: error.reason })
  const isAbort = (error as { name?: unknown } | undefined)?.name === 'AbortError'
  sink.decided(open, { decision: isAbort ? 'aborted' : 'failed', reason: messageOf(error) })
}

/** Returns how the result of a tool call ended it for good. */
export function endOf(value: unknown): Decision | undefined {
  const { status, content } = (value ?? {}) as { status?: unknown; content?: unknown }
  if (status === 'suspended') return { decision: status }
  if (status !== 'denied') return undefined
  return { decision: status, ...(typeof content === 'string' && { reason: content }) }
}
