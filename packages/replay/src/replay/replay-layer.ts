import {
  AlliumError,
  defineMiddleware,
  type HookInfo,
  type ModelContext,
  type ToolContext,
  type TurnView,
  type TypedMiddleware,
} from '@allium/core'
import { aroundRun } from '@allium/core/context'
import { heldLease } from '@allium/core/internal'
import { type AgentStore, sharedStore } from '@allium/store'
import { beingReplayed } from '../being-replayed.ts'
import { DecisionWatcher } from '../decisions/decision-watcher.ts'
import type { TurnToReplay } from './replay.ts'
import { replayStore } from './replay-store.ts'
import { useSessionId } from './session-id.ts'
import type { TurnReplay } from './turn-replay.ts'

/** Puts the turns of a replay into the layers of the agent: it watches each hook, and answers at the core. */
export class ReplayLayer {
  /** The turn that is replayed, and its replay while it runs. */
  given: TurnToReplay | undefined
  current: TurnReplay | undefined
  readonly layer: TypedMiddleware<{}>
  readonly #without: ReadonlySet<string>
  readonly #caches: ReadonlySet<string>
  readonly #decisions = new DecisionWatcher()
  #store: AgentStore | undefined

  /** @param caches the layers that answer calls from a cache, which a replay does not have */
  constructor(without: ReadonlySet<string>, caches: ReadonlySet<string>) {
    this.#without = without
    this.#caches = caches
    this.layer = defineMiddleware({
      name: 'replay:replay',
      inherit: true,
      provides: [beingReplayed],
      agent: (ctx, next) => {
        ctx.provide(beingReplayed, true)
        useSessionId(ctx, () => this.given?.key.sessionId ?? 'replay')
        this.#store = ctx.find(sharedStore)
        return next()
      },
      session: (ctx, next) => {
        if (ctx.find(heldLease) !== undefined) throw storesAnonymous(ctx.agent.name)
        const { given } = this
        if (this.#store !== undefined && given !== undefined)
          ctx.provide(sharedStore, replayStore(this.#store, given))
        aroundRun(ctx, async (_run, proceed) => {
          const stored = await proceed()
          if (this.current !== undefined) this.current.stored = stored
          return stored
        })
        return next()
      },
      wrapHooks: (hook) => this.#wrap(hook),
    })
  }

  #wrap(hook: HookInfo): HookInfo['run'] {
    const { layer, scope, options, run } = hook
    if (scope === 'agent' || scope === 'session') return run
    if (layer !== undefined && this.#without.has(layer)) return (_, next) => next()
    const isCache = layer !== undefined && this.#caches.has(layer)
    return (ctx: TurnView, next) => {
      const turn = this.current
      if (turn === undefined || !ctx.turnId.startsWith(turn.turnId)) return run(ctx as never, next)
      turn.schedule.touch()
      if (layer !== undefined) turn.layers.entered(ctx.turnId, ctx.agent.name, layer, options)
      const hit = isCache ? turn.cached(hook, ctx as ModelContext | ToolContext) : undefined
      const own = hit === undefined ? hook : { ...hook, run: () => hit }
      const inside = () => this.#decisions.run(own, ctx, next, turn)
      if (layer !== undefined || scope === 'turn') return inside()
      return scope === 'model' ? turn.model(ctx as ModelContext, inside) : turn.tool(ctx as ToolContext, inside)
    }
  }
}

function storesAnonymous(agent: string): AlliumError {
  return new AlliumError(
    'options.invalid',
    `The agent "${agent}" stores sessions without an id, so a replay would write to its store. Give the replay an agent without memory.persist({ anonymous: true }).`,
  )
}
