import type { ScopeName } from '@allium/core'
import { isThenable, messageOf } from '@allium/core'
import { type AnyContext, type Combinable, type Combined, combine, type HookPlace } from './combine.ts'
import { Fork, type Verdict } from './fork.ts'
import { ForkSessions } from './fork-state.ts'
import { observersOf } from './record.ts'

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
 * `wrapHooks` are left out. What it does beyond `ctx`, such as requests of its own, it does.
 *
 * Each decision goes to `record`, and to observers as `shadow:decision`; never into a run's stream.
 *
 * @example
 * agent.use(shadow(newGuard, { record: ({ decision, reason }) => console.log(decision, reason) }))
 */
export function shadow<M extends Combinable>(layer: M, { record }: ShadowOptions = {}): Combined<M> {
  const sessions = new ForkSessions()
  const without = ['tools', 'provides', 'wrapHooks'] as const
  return combine(
    'shadow',
    layer,
    (place) => (ctx, next) => {
      const fork = begin(place, ctx)
      const real = next()
      fork?.follow(real)
      return real
    },
    without,
  )

  function begin(place: HookPlace, ctx: AnyContext): Fork | undefined {
    const tell = (changes: Iterable<string>, verdict: Verdict) =>
      told(place, ctx, { ...verdict, changes: [...changes] })
    let fork: Fork | undefined
    try {
      fork = new Fork(place, ctx, sessions)
      run(place, fork, tell)
      return fork
    } catch (error) {
      tell(fork?.changes ?? [], { decision: 'throw', reason: messageOf(error), error })
      return fork
    }
  }

  function told(
    { layer, scope }: HookPlace,
    ctx: AnyContext,
    verdict: Verdict & Pick<ShadowDecision, 'changes'>,
  ): void {
    try {
      const { sessionId, turnId, callId } = ctx
      const place = {
        ...(sessionId !== undefined && { sessionId }),
        ...(turnId !== undefined && { turnId }),
        ...(callId !== undefined && { callId }),
      }
      const decision: ShadowDecision = { layer, scope, ...verdict, ...place }
      observersOf(ctx)?.emit('shadow:decision', { ...decision, type: 'shadow:decision' })
      const kept = record?.(decision)
      if (isThenable(kept)) kept.then(undefined, (error) => complain(ctx, layer, error))
    } catch (error) {
      complain(ctx, layer, error)
    }
  }
}

/** Runs the hook on the fork; nobody waits for it. */
function run({ run }: HookPlace, fork: Fork, tell: (changes: Iterable<string>, verdict: Verdict) => void): void {
  let returned: unknown
  try {
    returned = run(fork.ctx, fork.next as never)
  } catch (error) {
    return tell(fork.changes, fork.threw(error))
  }
  Promise.resolve(returned)
    .then(
      (value) => fork.returned(value),
      (error) => fork.threw(error),
    )
    .then(
      (verdict) => tell(fork.changes, verdict),
      (error) => tell(fork.changes, { decision: 'throw', reason: messageOf(error), error }),
    )
}

function complain(ctx: AnyContext, layer: string, error: unknown): void {
  ctx.logger.error(`The record of the shadowed layer "${layer}" failed: ${messageOf(error)}`, { error })
}
