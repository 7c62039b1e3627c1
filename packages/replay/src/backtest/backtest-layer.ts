import {
  AlliumError,
  type AnyTool,
  defineMiddleware,
  type HookInfo,
  isBlockError,
  type Middleware,
  type ModelContext,
  messageOf,
  type ToolContext,
  type TurnView,
} from '@allium/core'
import { heldLease, isThenable } from '@allium/core/internal'
import { memoryLedger, memoryStore, sharedStore } from '@allium/store'
import { beingReplayed } from '../being-replayed.ts'
import type { Decision } from '../decisions/decision-list.ts'
import { type DecisionSink, DecisionWatcher } from '../decisions/decision-watcher.ts'
import type { BacktestCall, TurnBacktest } from './turn-backtest.ts'

/** Categories of layers that only look at calls, or stand in for a tool. */
const lookers = new Set([
  'traces',
  'observes',
  'reports',
  'records',
  'recordsRaw',
  'persists',
  'meters',
  'caches',
  'emulates',
])

/** Set on a tool without an effect of its own, such as one of `tools.agent`. */
const onlyDelegates = Symbol.for('allium:delegates')

/** The layer that a backtest registers last: it passes turn and model layers by, and swaps the model at the core. */
export class BacktestLayer {
  /** The tools that only run a sub-agent. */
  readonly delegates = new Set<string>()
  /** The layers whose tool hooks are passed by. */
  readonly passedBy = new Set<string>()
  readonly #others = new Set<string>()
  readonly #turns = new Map<string, TurnBacktest>()
  readonly #decisions = new DecisionWatcher()

  passBy(layers: readonly { readonly name: string; readonly order: { readonly is?: readonly string[] } }[]): void {
    for (const {
      name,
      order: { is = [] },
    } of layers)
      if (is.length > 0 && is.every((word) => lookers.has(word))) this.passedBy.add(name)
  }

  add(turn: TurnBacktest): () => void {
    this.#turns.set(turn.turnId, turn)
    return () => this.#turns.delete(turn.turnId)
  }

  toMiddleware(): Middleware {
    const store = { sessions: memoryStore(), ledger: memoryLedger() }
    return defineMiddleware({
      name: 'replay:backtest',
      inherit: true,
      session(ctx, next) {
        if (ctx.find(heldLease) !== undefined)
          throw new AlliumError(
            'options.invalid',
            'The agent stores anonymous sessions, so a backtest would write to its store. Pass an agent without the option `anonymous`.',
          )
        ctx.provide(sharedStore, store)
        ctx.provide(beingReplayed, true)
        return next()
      },
      tool: (_, next) => next(),
      admits: (tool) => this.#admit(tool),
      wrapHooks: (hook) => this.#wrap(hook),
    }) as Middleware
  }

  /** Sub-agents may have another tool of the same name. Then both are answered from the recording. */
  #admit(tool: AnyTool): undefined {
    const { name } = tool
    if ((tool as { [onlyDelegates]?: unknown })[onlyDelegates] === true) this.delegates.add(name)
    else this.#others.add(name)
    if (this.#others.has(name)) this.delegates.delete(name)
  }

  #wrap(hook: HookInfo): HookInfo['run'] {
    const { layer, scope, run } = hook
    if (scope === 'tool')
      return layer !== undefined && this.passedBy.has(layer) ? (_, next) => next() : this.#watch(hook)
    if (layer !== undefined) return (_, next) => next()
    if (scope !== 'model') return run
    return (ctx: ModelContext, next) => {
      ctx.setModel(this.#turnOf(ctx).modelFor(ctx))
      return run(ctx as never, next)
    }
  }

  /** Runs a tool hook, and notes how the call ended for it. The outermost hook ends last. */
  #watch(hook: HookInfo): HookInfo['run'] {
    return (ctx: ToolContext, next) => {
      const turn = this.#turnOf(ctx)
      const call = turn.begin(ctx)
      const ended = (value: unknown) => {
        note(turn, call, value)
        return value
      }
      const failed = (error: unknown): never => {
        noteError(turn, call, error)
        throw error
      }
      try {
        const value = this.#decisions.run(hook, ctx, next, sinkOf(call))
        return isThenable(value) ? value.then(ended, failed) : ended(value)
      } catch (error) {
        return failed(error)
      }
    }
  }

  /** The id of a sub-agent's turn starts with `<turn>/<callId>`. */
  #turnOf({ turnId }: TurnView): TurnBacktest {
    for (let at = turnId.length; at >= 0; at = turnId.lastIndexOf('/', at - 1)) {
      const turn = this.#turns.get(turnId.slice(0, at))
      if (turn !== undefined) return turn
      if (at === 0) break
    }
    throw new AlliumError('run.failed', `The run "${turnId}" belongs to no backtest. Use this agent for nothing else.`)
  }
}

function sinkOf(call: BacktestCall): DecisionSink {
  return {
    decided: ({ hook: { layer } }, decision) => decided(call, layer, decision),
    returned() {},
  }
}

/** Layers outside see the denial of a layer again, so the first one counts. */
function decided(call: BacktestCall, layer: string | undefined, { decision, reason }: Decision): void {
  if (decision === 'retried' || decision === 'recovered' || call.isDecided) return
  call.isDecided = decision === 'denied' || decision === 'suspended'
  call.layer = layer
  call.reason = reason
}

function note(turn: TurnBacktest, call: BacktestCall, value: unknown): void {
  if (turn.diverged !== undefined) return
  const { status, content } = (value ?? {}) as { status?: unknown; content?: unknown }
  if (status === 'denied') call.outcome = 'denied'
  else if (status === 'suspended') call.outcome = 'waiting'
  else if (call.reached) call.outcome = 'allowed'
  // The core rejects unknown tools and arguments that do not fit with an error.
  else call.outcome = call.layer === undefined ? 'denied' : 'answered'
  if (call.outcome === 'denied' && typeof content === 'string') call.reason ??= content
}

function noteError(turn: TurnBacktest, call: BacktestCall, error: unknown): void {
  if (isBlockError(error) || (error as { name?: unknown }).name === 'AbortError') {
    call.outcome = 'denied'
    call.reason ??= messageOf(error)
    turn.cut ??= 'a layer now ends the turn'
  } else turn.diverge(call.layer === undefined ? 'a tool call failed' : `the layer "${call.layer}" failed`)
}
