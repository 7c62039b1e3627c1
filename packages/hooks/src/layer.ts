import type { ModelContext, NextFor, TurnContext, TypedMiddleware } from '@allium/core'
import type { HookName } from './chain.ts'
import { type Chain, hookNames } from './chain.ts'
import { LifecycleRun } from './lifecycle-run.ts'

type Layer<C> = TypedMiddleware<{}, undefined, C>

/** A layer that calls the hooks of a chain. It hooks the scopes alone that they need. */
export function layerOf<C>(name: string, chain: Chain): Layer<C> {
  return new Hooked(chain, false).layer(name)
}

/** The layer of an agent's own hooks: those of layers inside it join its chain, behind its own. */
export function hostOf<C>(name: string, chain: Chain): Layer<C> {
  return new Hooked(chain, true).layer(name)
}

/** The hosts of turns, by the scratch record that all contexts of a turn share. */
const hosts = new WeakMap<object, LifecycleRun>()

class Hooked {
  /** By turn, as in `hosts`. Where `when` leaves the turn hook out, there is none, and the others let the call pass. */
  readonly #runs = new WeakMap<object, LifecycleRun>()
  readonly #chain: Chain
  readonly #isHost: boolean

  constructor(chain: Chain, isHost: boolean) {
    this.#chain = chain
    this.#isHost = isHost
  }

  layer<C>(name: string): Layer<C> {
    const runs = this.#runs
    const layer: Layer<C> = { name, turn: (ctx, next) => this.#turn(ctx as TurnContext, next) }
    if (this.#hooks(inModel))
      layer.model = (ctx, next) => runs.get(ctx.metadata)?.model(ctx as ModelContext, next) ?? next()
    if (this.#hooks(inTool)) layer.tool = (ctx, next) => runs.get(ctx.metadata)?.tool(ctx, next) ?? next()
    if (this.#hooks(atProvider))
      layer.wrapHooks = ({ layer: of, scope, run }) => {
        if (of !== undefined || scope !== 'model') return run
        return (ctx, next) => {
          const call: ModelContext = ctx
          const go = () => run(ctx, next)
          return runs.get(call.metadata)?.provider(call, go) ?? go()
        }
      }
    return layer
  }

  async #turn(ctx: TurnContext, next: NextFor<void>): Promise<void> {
    const host = hosts.get(ctx.metadata)
    if (host !== undefined) {
      await host.join(this.#chain)
      return next()
    }
    const run = new LifecycleRun(ctx, this.#chain)
    this.#runs.set(ctx.metadata, run)
    if (this.#isHost) hosts.set(ctx.metadata, run)
    await run.begin()
    await next()
    await run.loopEnded()
  }

  #hooks(names: readonly HookName[]): boolean {
    return this.#isHost || names.some((name) => this.#chain[name].length > 0)
  }
}

const atProvider: readonly HookName[] = ['onStructuredOutputConfig']
const inTool: readonly HookName[] = ['onBeforeToolCall', 'onAfterToolCall', 'onToolPhaseComplete', 'onShouldContinue']
const ofTurn: readonly HookName[] = [...atProvider, 'setup', 'onStart', 'onFinish', 'onAbort', 'onError']
/** A turn hook alone is enough for those of the turn; all others follow its model calls. */
const inModel = hookNames.filter(
  (name) => !ofTurn.includes(name) && !['onBeforeToolCall', 'onAfterToolCall'].includes(name),
)
