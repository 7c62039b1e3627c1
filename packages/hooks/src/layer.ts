import type { HookInfo, HookRun, ModelContext, NextFor, TurnView, TypedMiddleware } from '@allium/core'
import type { HookName } from './chain.ts'
import { type Chain, hookNames } from './chain.ts'
import { LifecycleRun } from './lifecycle-run.ts'

type Layer<C> = TypedMiddleware<{}, undefined, C>

/** Returns a layer that calls the hooks of a chain. It hooks only the scopes that they need. */
export function layerOf<C>(name: string, chain: Chain, endTimeout?: number): Layer<C> {
  return new HookLayer(chain, false, endTimeout).layer(name)
}

/** Returns the layer of an agent's own hooks. Hooks of inner layers join its chain at the end. */
export function hostOf<C>(name: string, chain: Chain): Layer<C> {
  return new HookLayer(chain, true).layer(name)
}

/** The hosts of turns, by the scratch record that all contexts of a turn share. */
const hosts = new WeakMap<object, LifecycleRun>()

class HookLayer {
  /** By turn, as in `hosts`. If `when` skips the turn hook, there is none, and the other hooks pass the call on. */
  readonly #runs = new WeakMap<object, LifecycleRun>()
  readonly #chain: Chain
  readonly #isHost: boolean
  readonly #endTimeout: number

  constructor(chain: Chain, isHost: boolean, endTimeout = 30_000) {
    this.#chain = chain
    this.#isHost = isHost
    this.#endTimeout = endTimeout
  }

  layer<C>(name: string): Layer<C> {
    const runs = this.#runs
    const layer: Layer<C> = { name, turn: (ctx, next) => this.#turn(ctx as TurnView, next) }
    if (this.#hooks(inModel))
      layer.model = (ctx, next) => runs.get(ctx.metadata)?.model(ctx as ModelContext, next) ?? next()
    if (this.#hooks(inTool)) layer.tool = (ctx, next) => runs.get(ctx.metadata)?.tool(ctx, next) ?? next()
    if (this.#hooks(atProvider))
      layer.wrapHooks = (hook) => (hook.layer === undefined ? this.#aroundCore(hook) : hook.run)
    return layer
  }

  /** Runs the hooks that come after all layers. */
  #aroundCore({ scope, run }: HookInfo): HookRun {
    const of = ({ metadata }: TurnView) => this.#runs.get(metadata)
    if (scope === 'turn' && this.#isHost)
      return async (ctx, next) => {
        await of(ctx)?.start()
        return run(ctx, next)
      }
    if (scope !== 'model') return run
    return (ctx, next) => {
      const runInner = () => run(ctx, next)
      return of(ctx)?.provider(ctx, runInner) ?? runInner()
    }
  }

  async #turn(ctx: TurnView, next: NextFor<void>): Promise<void> {
    const host = hosts.get(ctx.metadata)
    if (host !== undefined) {
      await host.join(this.#chain)
      return next()
    }
    const run = new LifecycleRun(ctx, this.#chain, this.#endTimeout)
    this.#runs.set(ctx.metadata, run)
    await run.setUp()
    // A host starts after the inner layers have joined, so that every setup runs before the first onConfig.
    if (this.#isHost) hosts.set(ctx.metadata, run)
    else await run.start()
    await next()
    await run.start() // an inner layer answered in place of the loop
    await run.loopEnded()
  }

  #hooks(names: readonly HookName[]): boolean {
    return this.#isHost || names.some((name) => this.#chain[name].length > 0)
  }
}

const atProvider: readonly HookName[] = ['onStructuredOutputConfig']
const inTool: readonly HookName[] = ['onBeforeToolCall', 'onAfterToolCall', 'onToolPhaseComplete', 'onShouldContinue']
const ofTurn: readonly HookName[] = [...atProvider, 'setup', 'onStart', 'onFinish', 'onAbort', 'onError']
/** Turn hooks only need the turn scope; all others follow its model calls. */
const inModel = hookNames.filter(
  (name) => !ofTurn.includes(name) && !['onBeforeToolCall', 'onAfterToolCall'].includes(name),
)
