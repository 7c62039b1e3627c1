import type { HookInfo, HookRun, Middleware, ToolContext, TurnView } from '@allium/core'
import { rootTurnIdOf } from '@allium/core/context'
import {
  type Decision,
  DecisionList,
  type DecisionSink,
  DecisionWatcher,
  endOf,
  type OpenHook,
} from '@allium/replay/decisions'
import type { EvalDecision } from '../report/report.ts'
import type { EvalResult } from './agent.ts'

/** A decision, and the call that it is about. */
type OfCall = EvalDecision & { readonly turnId: string; readonly call: string | undefined }

const maxReason = 300

/**
 * Records which layer denied, suspended, blocked, skipped, retried or recovered. Layers of a sub-agent are not visible. If one of them
 * denies a call that an inherited layer sees, the decision names `sub-agent`.
 */
export class DecisionWatch implements DecisionSink {
  /** The layer for one run. */
  readonly layer: Middleware = {
    name: 'evals:decisions',
    wrapHooks: (hook) => (ctx, next) => this.#watch(hook, ctx, next),
  }
  readonly #watcher = new DecisionWatcher()
  readonly #list = new DecisionList<OfCall>()
  #turnId = ''

  /** Returns the decisions in their order. @param calls the tool calls of the run's result */
  decisions(calls: EvalResult['toolCalls']): EvalDecision[] {
    const turnId = this.#turnId
    for (const { callId: call, name: tool, result } of calls) {
      const end = endOf(result)
      const layer = this.#list.outermost({ turnId, call }) ?? 'core'
      if (end !== undefined) this.#add({ turnId, call, layer, scope: 'tool', tool }, end)
    }
    return this.#list.items.map(({ turnId: _, call: __, ...decision }) => decision)
  }

  decided(open: OpenHook, decided: Decision, isHidden = false): void {
    const { decision } = decided
    if (decision === 'failed' || decision === 'aborted') return
    const about = aboutOf(open)
    const layer = isHidden && rootTurnIdOf(open.ctx) !== about.turnId ? 'sub-agent' : about.layer
    this.#add({ ...about, layer }, { ...decided, decision })
  }

  returned(open: OpenHook): void {
    this.#list.returned(aboutOf(open))
  }

  #watch(hook: HookInfo, ctx: TurnView, next: Parameters<HookRun>[1]): unknown {
    if (hook.scope === 'turn') this.#turnId = ctx.turnId
    return this.#watcher.run(hook, ctx, next, this)
  }

  #add(about: About, { decision, reason }: Decision): void {
    const { tool, ...rest } = about
    this.#list.add({
      ...rest,
      decision: decision as EvalDecision['decision'],
      ...(tool !== undefined && { tool }),
      ...(reason !== undefined && { reason: reason.slice(0, maxReason) }),
    })
  }
}

type About = Pick<OfCall, 'turnId' | 'call' | 'layer' | 'scope'> & { readonly tool: string | undefined }

function aboutOf({ hook, ctx }: OpenHook): About {
  const { layer = 'core', scope } = hook
  const { callId: call, tool } = (scope === 'tool' ? ctx : {}) as Partial<ToolContext>
  return { turnId: ctx.turnId, call, layer, scope: scope as OfCall['scope'], tool: tool?.name }
}
