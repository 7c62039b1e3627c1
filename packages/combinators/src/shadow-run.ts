import { type ModelResponse, messageOf, type NextOptions, type ToolResult } from '@allium/core'
import { Fork } from '@allium/core/internal'
import type { AnyContext, WrappedHook } from './combine.ts'
import { copyOf, sameJson } from './copy.ts'
import { ShadowContext } from './shadow-context.ts'
import type { ShadowDecision } from './shadow-decision.ts'
import type { ShadowSessions } from './shadow-session.ts'
import { silence } from './thenable.ts'

/** What a shadow would have done. */
export type Verdict = Pick<ShadowDecision, 'decision' | 'reason' | 'error' | 'changes'>
type Decision = ShadowDecision['decision']
type InnerNext = (options?: NextOptions) => Promise<unknown>

/** One entry of a shadowed hook. It runs in a fork of the real attempt, whose next() returns a copy of the real result. */
export class ShadowRun {
  readonly #scope: WrappedHook['scope']
  readonly #fork: Fork
  readonly #context: ShadowContext
  /** The result of the real next(); for the turn scope, its output. */
  readonly #real: Promise<unknown>
  #resolveReal!: (real: Promise<unknown>) => void
  /** A private copy of the result for comparison. */
  #result: unknown
  readonly #innerErrors = new Set<unknown>()

  constructor(hook: WrappedHook, ctx: AnyContext, sessions: ShadowSessions) {
    this.#scope = hook.scope
    this.#real = new Promise((resolve) => {
      this.#resolveReal = resolve
    })
    silence(this.#real)
    this.#fork = new Fork(ctx, {
      run: (_, next) => hook.run(this.#context.ctx, (hook.scope === 'turn' ? this.#wrapTurnNext(next) : next) as never),
      inside: async () => copyOf(await this.#real),
      reached: (verb) => this.#context.addChange(verb),
    })
    const session = sessions.of(hook, ctx, this.#fork.session)
    this.#context = new ShadowContext(ctx, this.#fork, session, sessions)
  }

  /** Follows the real call, as soon as it begins. */
  follow(real: Promise<unknown>): void {
    const { real: ctx } = this.#context
    this.#resolveReal(
      real.then(
        (value) => (this.#result = copyOf(this.#scope === 'turn' ? ctx.output : value)),
        (error) => {
          const copy = copyOf(error)
          this.#innerErrors.add(copy)
          throw copy
        },
      ),
    )
  }

  /** Runs the hook. Settles when the hook does, which may be never. */
  async verdict(): Promise<Verdict> {
    const verdict = await this.#fork.run().then(
      (value) => this.#onReturn(value),
      (error) => this.#onThrow(error),
    )
    return { ...verdict, changes: [...this.#context.changes] }
  }

  #onReturn(value: unknown): Omit<Verdict, 'changes'> {
    const { shortCircuit, entered } = this.#fork
    const { changes, stopReason: stopped, overlaid: written } = this.#context
    if (shortCircuit === 'deny' || shortCircuit === 'suspend')
      return verdictOf(shortCircuit, shortCircuit === 'deny' && contentOf(value))
    if (entered === 0 && this.#scope !== 'model' && this.#scope !== 'tool' && !written.has('output'))
      return verdictOf('throw', 'It returned without next().')
    this.#compare()
    if (entered > 0 && shortCircuit === undefined && !this.#isSameResult(value))
      changes.add(this.#scope === 'model' ? 'response' : 'result')
    if (shortCircuit === 'skip' || entered === 0) return verdictOf('skip')
    return changes.size === 0 ? verdictOf('pass') : verdictOf('change', stopped)
  }

  #onThrow(error: unknown): Omit<Verdict, 'changes'> {
    const { ending: ended, changes } = this.#context
    if (ended !== undefined) return ended
    this.#compare()
    if (this.#innerErrors.has(error)) return verdictOf(changes.size === 0 ? 'pass' : 'change')
    return { ...verdictOf('throw', messageOf(error)), error }
  }

  #compare(): void {
    this.#context.compare()
    if (this.#fork.entered > 1) this.#context.changes.add('another next()')
  }

  /** Compares by value: the text and the calls of a response, the content of a tool's result. */
  #isSameResult(value: unknown): boolean {
    return (this.#scope !== 'model' && this.#scope !== 'tool') || sameJson(comparable(this.#result), comparable(value))
  }

  /** next() of a turn returns nothing. It sets the output, as the layer's transforms leave it. */
  #wrapTurnNext(next: InnerNext): InnerNext {
    const { overlaid: written, changes, inputs } = this.#context
    return (options) => {
      const entered = inputs.length === 0 ? next(options) : this.#context.applyInput().then(() => next(options))
      const innerRun = entered.then((text) => {
        written.set('output', text)
        if (text !== this.#result) changes.add('output')
      })
      silence(innerRun)
      return innerRun
    }
  }
}

function verdictOf(decision: Decision, reason?: unknown): Omit<Verdict, 'changes'> {
  return { decision, ...(typeof reason === 'string' && { reason }) }
}

function contentOf(result: unknown): unknown {
  return (result as ToolResult).content
}

function comparable(answer: unknown): unknown {
  const { text, toolCalls, content, isError = false } = answer as Partial<ModelResponse & ToolResult>
  return { text, content, isError, calls: toolCalls?.map(({ callId, name, args }) => ({ callId, name, args })) }
}
