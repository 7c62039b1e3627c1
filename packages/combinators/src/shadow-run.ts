import { Fork, type ModelResponse, messageOf, type NextOptions, type ToolResult } from '@allium/core'
import { attemptOf } from './attempt.ts'
import type { AnyContext, HookPlace } from './combine.ts'
import { copyOf, sameJson } from './copy.ts'
import type { ShadowDecision } from './shadow.ts'
import { ShadowContext } from './shadow-context.ts'
import type { ShadowSessions } from './shadow-session.ts'
import { silence } from './thenable.ts'

/** What a shadow would have done. */
export type Verdict = Pick<ShadowDecision, 'decision' | 'reason' | 'error' | 'changes'>
type Decision = ShadowDecision['decision']
type Inside = (options?: NextOptions) => Promise<unknown>

/** One entry of a shadowed hook: it runs in a fork of the real attempt, whose next() gives what the real one gave. */
export class ShadowRun {
  readonly #scope: HookPlace['scope']
  readonly #fork: Fork
  readonly #context: ShadowContext
  /** What the real next() came to; for the turn scope its output. */
  readonly #real: Promise<unknown>
  #follow!: (real: Promise<unknown>) => void
  /** The same to compare with; nobody else has it. */
  #result: unknown
  readonly #missed = new Set<unknown>()

  constructor(place: HookPlace, ctx: AnyContext, sessions: ShadowSessions) {
    this.#scope = place.scope
    this.#real = new Promise((resolve) => {
      this.#follow = resolve
    })
    silence(this.#real)
    this.#fork = new Fork(attemptOf(ctx), {
      run: (_, next) => place.run(this.#context.ctx, (place.scope === 'turn' ? this.#turn(next) : next) as never),
      inside: async () => copyOf(await this.#real),
    })
    const session = sessions.of(place, ctx, this.#fork.session)
    this.#context = new ShadowContext(ctx, this.#fork, session, sessions)
  }

  /** The real call, as soon as it is entered. */
  follow(real: Promise<unknown>): void {
    const { real: ctx } = this.#context
    this.#follow(
      real.then(
        (value) => (this.#result = copyOf(this.#scope === 'turn' ? ctx.output : value)),
        (error) => {
          const copy = copyOf(error)
          this.#missed.add(copy)
          throw copy
        },
      ),
    )
  }

  /** Runs the hook; settles when it does, which may be never. */
  async verdict(): Promise<Verdict> {
    const verdict = await this.#fork.run().then(
      (value) => this.#returned(value),
      (error) => this.#threw(error),
    )
    return { ...verdict, changes: [...this.#context.changes] }
  }

  #returned(value: unknown): Omit<Verdict, 'changes'> {
    const { decided, entered } = this.#fork
    const { changes, stopped, written } = this.#context
    if (decided === 'deny' || decided === 'suspend') return because(decided, decided === 'deny' && contentOf(value))
    if (entered === 0 && this.#scope !== 'model' && this.#scope !== 'tool' && !written.has('output'))
      return because('throw', 'It returned without next().')
    this.#compare()
    if (entered > 0 && decided === undefined && !this.#same(value))
      changes.add(this.#scope === 'model' ? 'response' : 'result')
    if (decided === 'skip' || entered === 0) return because('skip')
    return changes.size === 0 ? because('pass') : because('change', stopped)
  }

  #threw(error: unknown): Omit<Verdict, 'changes'> {
    const { ended, changes } = this.#context
    if (ended !== undefined) return ended
    this.#compare()
    if (this.#missed.has(error)) return because(changes.size === 0 ? 'pass' : 'change')
    return { ...because('throw', messageOf(error)), error }
  }

  #compare(): void {
    this.#context.compare()
    if (this.#fork.entered > 1) this.#context.changes.add('another next()')
  }

  /** By value: of a response the text and the calls, of a tool's result the content. */
  #same(value: unknown): boolean {
    return (this.#scope !== 'model' && this.#scope !== 'tool') || sameJson(said(this.#result), said(value))
  }

  /** next() of a turn gives nothing: it sets the output, as it leaves the transforms of the layer. */
  #turn(next: Inside): Inside {
    const { written, changes, inputs } = this.#context
    return (options) => {
      const entered = inputs.length === 0 ? next(options) : this.#context.takeInput().then(() => next(options))
      const inside = entered.then((text) => {
        written.set('output', text)
        if (text !== this.#result) changes.add('output')
      })
      silence(inside)
      return inside
    }
  }
}

function because(decision: Decision, reason?: unknown): Omit<Verdict, 'changes'> {
  return { decision, ...(typeof reason === 'string' && { reason }) }
}

function contentOf(result: unknown): unknown {
  return (result as ToolResult).content
}

function said(answer: unknown): unknown {
  const { text, toolCalls, content, isError = false } = answer as Partial<ModelResponse & ToolResult>
  return { text, content, isError, calls: toolCalls?.map(({ callId, name, args }) => ({ callId, name, args })) }
}
