import { type HookInfo, type HookRun, isBlockError, type Middleware, messageOf, type ToolContext } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'
import { isRecord } from '@allium/core/internal'
import type { EvalDecision } from '../report/report.ts'
import type { EvalResult } from './agent.ts'

type Next = Parameters<HookRun>[1]
type Effect = Pick<EvalDecision, 'decision' | 'reason'>

/** A call of a hook, and what its next() did. */
interface HookCall {
  readonly layer: string
  readonly scope: EvalDecision['scope']
  /** The id of the tool call; empty in other scopes. */
  readonly callId: string
  readonly tool: string | undefined
  readonly isInSubAgent: boolean
  entered: number
  /** The denial or suspension that next() returned. */
  inner: Effect | undefined
  /** The error of the last next(). */
  thrown: { readonly error: unknown } | undefined
}

/**
 * Records which layer denied, suspended, blocked, skipped, retried or recovered. Layers of a sub-agent are not visible. If one of them
 * denies a call that an inherited layer sees, the decision names `sub-agent`.
 */
export class DecisionWatch {
  /** The layer for one run. */
  readonly layer: Middleware = {
    name: 'evals:decisions',
    wrapHooks: (hook) => (ctx, next) => this.#watch(hook, ctx, next),
  }
  #found: { readonly callId: string; readonly decision: EvalDecision }[] = []
  /** The layer that returned last, by call id. */
  readonly #returned = new Map<string, string>()

  /** Returns the decisions in their order. @param calls the tool calls of the run's result */
  decisions(calls: EvalResult['toolCalls']): EvalDecision[] {
    for (const { callId, name: tool, result } of calls) {
      const effect = endOf(result)
      // No layer outside has seen the denial of the outermost one.
      const layer = this.#returned.get(callId) ?? 'core'
      if (effect !== undefined) this.#add({ layer, scope: 'tool', callId, tool }, effect)
    }
    return this.#found.map(({ decision }) => decision)
  }

  async #watch({ layer = 'core', scope, run }: HookInfo, ctx: ToolContext, next: Next): Promise<unknown> {
    const call: HookCall = {
      layer,
      scope: scope as HookCall['scope'],
      callId: scope === 'tool' ? ctx.callId : '',
      tool: scope === 'tool' ? ctx.tool.name : undefined,
      isInSubAgent: rootTurnIdOf(ctx) !== ctx.turnId,
      entered: 0,
      inner: undefined,
      thrown: undefined,
    }
    try {
      const value = await run(ctx as never, (options) => this.#next(call, next, options))
      const effect = effectOf(call, scope === 'tool' ? endOf(value) : undefined)
      if (effect !== undefined) this.#add(call, effect)
      return value
    } catch (error) {
      if (isBlockError(error) && call.thrown?.error !== error)
        this.#add(call, { decision: 'blocked', reason: error.reason })
      throw error
    } finally {
      this.#returned.set(call.callId, layer)
    }
  }

  async #next(call: HookCall, next: Next, options: Parameters<Next>[0]): Promise<unknown> {
    call.entered++
    this.#returned.delete(call.callId)
    try {
      const value = await next(options)
      call.thrown = undefined
      call.inner = call.scope === 'tool' ? endOf(value) : undefined
      if (call.inner !== undefined) {
        // A layer may call ctx.deny() and return something else, so what next() returns counts.
        const inside = this.#returned.get(call.callId) ?? (call.isInSubAgent ? 'sub-agent' : call.layer)
        this.#add({ ...call, layer: inside }, call.inner)
      }
      return value
    } catch (error) {
      call.thrown = { error }
      throw error
    }
  }

  #add(by: Pick<HookCall, 'layer' | 'scope' | 'callId' | 'tool'>, effect: Effect): void {
    const { layer, scope, callId, tool } = by
    if (isFinal(effect)) {
      const ofCall = this.#found.filter((one) => one.callId === callId && one.decision.scope === 'tool')
      // Layers outside see the same denial again.
      if (ofCall.some((one) => isFinal(one.decision))) return
      const skip = ofCall.find((one) => one.decision.layer === layer && one.decision.decision === 'skipped')
      this.#found = this.#found.filter((one) => one !== skip)
    }
    const { decision, reason } = effect
    this.#found.push({
      callId,
      decision: {
        layer,
        scope,
        decision,
        ...(tool !== undefined && { tool }),
        ...(reason !== undefined && { reason }),
      },
    })
  }
}

function isFinal({ decision }: Effect): boolean {
  return decision === 'denied' || decision === 'suspended'
}

function effectOf({ layer, entered, inner, thrown }: HookCall, end: Effect | undefined): Effect | undefined {
  if (end !== undefined || inner !== undefined) return end
  if (layer === 'core') return undefined
  if (entered === 0) return { decision: 'skipped' }
  if (thrown !== undefined) return { decision: 'recovered', reason: messageOf(thrown.error).slice(0, maxReason) }
  return entered > 1 ? { decision: 'retried' } : undefined
}

const maxReason = 300

function endOf(value: unknown): Effect | undefined {
  const { status, content } = isRecord(value) ? value : {}
  if (status === 'suspended') return { decision: 'suspended' }
  if (status !== 'denied') return undefined
  return { decision: 'denied', ...(typeof content === 'string' && { reason: content.slice(0, maxReason) }) }
}
