import { checkOptions, type KeysOf, messageOf, type ScopeName, tellObservers } from '@allium/core'
import { type AnyContext, type Combinable, type Combined, combine, type WrappedHook } from './combine.ts'
import { ShadowRun, type Verdict } from './shadow-run.ts'
import { ShadowSessions } from './shadow-session.ts'
import { isThenable } from './thenable.ts'

/** What a shadowed layer would have done in one entry of one hook. */
export interface ShadowDecision {
  layer: string
  scope: ScopeName
  /**
   * `skip`: answered without what is inside. `throw`: an error of its own. `change`: see `changes`. `pass`: nothing of these,
   * errors from inside included.
   */
  decision: 'pass' | 'skip' | 'deny' | 'suspend' | 'block' | 'abort' | 'throw' | 'change'
  /** The reason of a deny, block, abort or stop; the message of an error. */
  reason?: string
  /** What was thrown. */
  error?: unknown
  /** What it would have changed, without the contents: `state guard:spent`, `history`, `messages`, `response`, `event audit:entry`, … */
  changes: readonly string[]
  sessionId?: string
  turnId?: string
  callId?: string
}

export interface ShadowOptions {
  /** Gets each decision; it may come after the run's result. What it throws goes to the logger. */
  record?(decision: ShadowDecision): unknown
}

const optionKeys: KeysOf<ShadowOptions> = { record: true }

declare module '@allium/core' {
  interface AgentEvents {
    'shadow:decision': ShadowDecision & { type: 'shadow:decision' }
  }
}

/**
 * Runs a layer beside the real call on a context of its own: it decides, is recorded, and changes nothing.
 *
 * To try a guard on real traffic before it may refuse anything. Its next() gives copies of the real result; its state is
 * its own, for each session, and lives in this process; its transforms run over the finished answer. It holds
 * nothing up: a shadow that hangs, throws or is late only goes unrecorded or is recorded so. Its tools, capabilities and
 * `wrapHooks` are left out, and so is what it `guards`. What it does beyond `ctx`, such as requests of its own, it does.
 *
 * Each decision goes to `record`, and to observers as `shadow:decision`; never into a run's stream.
 *
 * @example
 * agent.use(shadow(newGuard, { record: ({ decision, reason }) => console.log(decision, reason) }))
 */
export function shadow<M extends Combinable>(layer: M, options: ShadowOptions = {}): Combined<M> {
  checkOptions(options, optionKeys, 'shadow()', 'layer.config')
  const { record } = options
  const sessions = new ShadowSessions()
  return combine(
    'shadow',
    layer,
    (hook) => (ctx, next) => {
      // It stands in no input's way: what comes while the turn runs may pass it by.
      if (hook.scope === 'turn') ctx.onInput?.(() => {})
      const shadowRun = startShadow(hook, ctx)
      const real = next()
      shadowRun?.follow(real)
      return real
    },
    ['tools', 'provides', 'wrapHooks', 'guards'],
  )

  /** Runs the layer up to its first await; nobody waits for the rest. */
  function startShadow(hook: WrappedHook, ctx: AnyContext): ShadowRun | undefined {
    try {
      const shadowRun = new ShadowRun(hook, ctx, sessions)
      void shadowRun.verdict().then((verdict) => reportDecision(hook, ctx, verdict))
      return shadowRun
    } catch (error) {
      reportDecision(hook, ctx, { decision: 'throw', reason: messageOf(error), error, changes: [] })
      return undefined
    }
  }

  function reportDecision({ layer, scope }: WrappedHook, ctx: AnyContext, verdict: Verdict): void {
    try {
      const { sessionId, turnId, callId } = ctx
      const decision: ShadowDecision = {
        layer,
        scope,
        ...verdict,
        ...(sessionId !== undefined && { sessionId }),
        ...(turnId !== undefined && { turnId }),
        ...(callId !== undefined && { callId }),
      }
      tellObservers(ctx, { ...decision, type: 'shadow:decision' })
      const recorded = record?.(decision)
      if (isThenable(recorded)) recorded.then(undefined, (error) => logRecordFailure(ctx, layer, error))
    } catch (error) {
      logRecordFailure(ctx, layer, error)
    }
  }
}

function logRecordFailure(ctx: AnyContext, layer: string, error: unknown): void {
  ctx.logger.error(`The record of the shadowed layer "${layer}" failed: ${messageOf(error)}`, { error })
}
