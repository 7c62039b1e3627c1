import { messageOf } from '@allium/core'
import { checkOptions, isThenable, type KeysOf, tellObservers } from '@allium/core/internal'
import { type AnyContext, type Combinable, type Combined, combine, type WrappedHook } from './combine.ts'
import type { ShadowDecision } from './shadow-decision.ts'
import { ShadowRun, type Verdict } from './shadow-run.ts'
import { ShadowSessions } from './shadow-session.ts'

export interface ShadowOptions {
  /** Receives each decision, possibly after the run's result. Its errors are logged. */
  onDecision?(decision: ShadowDecision): unknown
}

const optionKeys: KeysOf<ShadowOptions> = { onDecision: true }

declare module '@allium/core' {
  interface AgentEvents {
    'shadow:decision': ShadowDecision & { type: 'shadow:decision' }
  }
}

/**
 * Runs a layer alongside the real call in a separate context. Its decisions are recorded and have no effect.
 *
 * Use it to try a guard on real traffic before it may refuse anything. Its next() returns copies of the real result. It has its own
 * state per session, in this process. Its transforms run over the finished answer. It delays nothing: a shadow that hangs, throws or is
 * late is recorded as such or not at all. Its tools, capabilities, `wrapHooks` and `guards` are left out. Effects outside of `ctx`, such
 * as its own requests, do happen.
 *
 * Each decision goes to `record`, and to observers as `shadow:decision`, never into a run's stream.
 *
 * @example
 * agent.use(shadow(newGuard, { record: ({ decision, reason }) => console.log(decision, reason) }))
 */
export function shadow<M extends Combinable>(layer: M, options: ShadowOptions = {}): Combined<M> {
  checkOptions(options, optionKeys, 'shadow()', 'layer.config')
  const { onDecision } = options
  const sessions = new ShadowSessions()
  return combine(
    'shadow',
    layer,
    (hook) => (ctx, next) => {
      // It does not hold up input; input that arrives while the turn runs may pass it.
      if (hook.scope === 'turn') ctx.onInput?.(() => {})
      const shadowRun = startShadow(hook, ctx)
      const real = next()
      shadowRun?.follow(real)
      return real
    },
    ['tools', 'provides', 'wrapHooks', 'guards'],
  )

  /** Runs the layer up to its first await; nothing waits for the rest. */
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

  function reportDecision({ layer: layerName, scope }: WrappedHook, ctx: AnyContext, verdict: Verdict): void {
    try {
      const { sessionId, turnId, callId } = ctx
      const decision: ShadowDecision = {
        layer: layerName,
        scope,
        ...verdict,
        ...(sessionId !== undefined && { sessionId }),
        ...(turnId !== undefined && { turnId }),
        ...(callId !== undefined && { callId }),
      }
      tellObservers(ctx, { ...decision, type: 'shadow:decision' })
      const recorded = onDecision?.(decision)
      if (isThenable(recorded)) recorded.then(undefined, (error) => logRecordFailure(ctx, layerName, error))
    } catch (error) {
      logRecordFailure(ctx, layerName, error)
    }
  }
}

function logRecordFailure(ctx: AnyContext, layer: string, error: unknown): void {
  ctx.logger.error(`The record of the shadowed layer "${layer}" failed: ${messageOf(error)}`, { error })
}
