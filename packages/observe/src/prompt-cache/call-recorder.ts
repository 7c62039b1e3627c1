import type { HookInfo, HookRun, ModelContext } from '@allium/core'
import { isThenable } from '@allium/core/internal'
import { ignoreErrors } from '../ignore-errors.ts'
import type { Stage, WatchedCall } from './find-breaks.ts'
import { requestOf, type SentRequest } from './request-items.ts'

type Next = Parameters<HookRun>[1]

/** A hook whose next() is on the stack, with the request that it received. */
interface Entered {
  readonly layer: string
  readonly outer: Entered | undefined
  readonly received: SentRequest
}

/** Records the request of each call at each layer, by wrapping the model hooks of all layers. */
export class CallRecorder {
  readonly #onAnswer: (call: WatchedCall, ctx: ModelContext) => unknown
  /** The hooks around the one that begins now. A hook begins while the next() of the one outside is on the stack. */
  #around: Entered | undefined

  /** @param onAnswer gets each call that the provider has answered. The call waits for it */
  constructor(onAnswer: (call: WatchedCall, ctx: ModelContext) => unknown) {
    this.#onAnswer = onAnswer
  }

  wrapHooks({ layer, scope, run }: HookInfo): HookRun {
    if (scope !== 'model') return run
    if (layer === undefined) return (ctx, next) => this.#runCore(run, ctx, next)
    return (ctx, next) => this.#runLayer(layer, run, ctx, next)
  }

  #runLayer(layer: string, run: HookRun, ctx: ModelContext, next: Next): unknown {
    const outer = this.#take()
    const received = ignoreErrors(() => requestOf(ctx, outer?.received))
    if (received === undefined) return run(ctx as never, next)
    const entered: Entered = { layer, outer, received }
    return run(ctx as never, (options) => {
      this.#around = entered
      try {
        return next(options)
      } finally {
        this.#around = undefined
      }
    })
  }

  /** An answer passes through unchanged, and errors of the watch do not reach the call. */
  #runCore(run: HookRun, ctx: ModelContext, next: Next): unknown {
    const outer = this.#take()
    const call = ignoreErrors(() => callOf(ctx, outer))
    const answer = run(ctx as never, next)
    if (call === undefined || !isThenable(answer)) return answer
    return answer.then(async (value) => {
      await Promise.resolve(ignoreErrors(() => this.#onAnswer(call, ctx))).catch(() => {})
      return value
    })
  }

  #take(): Entered | undefined {
    const around = this.#around
    this.#around = undefined
    return around
  }
}

/** Reads the requests from the inside out: each layer passed on what the hook inside received. */
function callOf(ctx: ModelContext, inner: Entered | undefined): WatchedCall {
  const { turnId, callIndex } = ctx
  let passedOn = requestOf(ctx, inner?.received)
  const stages: Stage[] = []
  for (let at = inner; at !== undefined; at = at.outer) {
    stages.unshift({ layer: at.layer, passedOn })
    passedOn = at.received
  }
  return { turnId, callIndex, fromLoop: passedOn, stages }
}
