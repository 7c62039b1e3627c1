import {
  defineMiddleware,
  type HookInfo,
  type ModelContext,
  type ToolContext,
  type TurnView,
  type TypedMiddleware,
} from '@allium/core'
import { aroundRun } from '@allium/core/context'
import { DecisionRecorder } from '../decision-recorder.ts'
import { beingReplayed } from './being-replayed.ts'
import type { LayerOptions } from './changed-layers.ts'
import type { TurnReplay } from './turn-replay.ts'

/** Puts the turns of a replay into the layers of the agent: it watches each hook, and answers at the core. */
export class ReplayLayer {
  /** The turn that runs. */
  current: TurnReplay | undefined
  readonly layer: TypedMiddleware<{}>
  readonly #without: ReadonlySet<string>
  readonly #decisions = new DecisionRecorder()

  constructor(without: ReadonlySet<string>) {
    this.#without = without
    this.layer = defineMiddleware({
      name: 'replay:replay',
      inherit: true,
      provides: [beingReplayed],
      session: (ctx, next) => {
        ctx.provide(beingReplayed, true)
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
    const { layer, scope, run } = hook
    if (scope === 'agent' || scope === 'session') return run
    if (layer !== undefined && this.#without.has(layer)) return (_, next) => next()
    const { options } = hook as { options?: LayerOptions }
    return (ctx: TurnView, next) => {
      const turn = this.current
      if (turn === undefined || !ctx.turnId.startsWith(turn.turnId)) return run(ctx as never, next)
      turn.schedule.touch()
      if (layer !== undefined) turn.layers.entered(ctx.turnId, ctx.agent.name, layer, options)
      const decided = (decision: (typeof turn.decisions)[number]) => {
        if (!turn.isOver) turn.decisions.push(decision)
      }
      const inside = () => this.#decisions.run(hook, ctx, next, decided)
      if (layer !== undefined || scope === 'turn') return inside()
      return scope === 'model' ? turn.model(ctx as ModelContext, inside) : turn.tool(ctx as ToolContext, inside)
    }
  }
}
