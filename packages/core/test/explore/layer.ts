import type { ContentChunk, Message, Middleware, ModelResponse, ScopeName, ToolResult } from '../../src/index.ts'
import { type Act, type LayerPlan, ticks } from './case.ts'
import { Planned } from './label.ts'
import { marksIn } from './models.ts'
import type { Story } from './story.ts'
import { mapOf, pipeOf } from './transforms.ts'

type Given = ModelResponse | ToolResult
type Return = Act & { do: 'return' }
/** What all layers of a case use of their contexts. */
interface Context {
  readonly signal: AbortSignal
  readonly attempt: number
  readonly callIndex: number
  readonly callId: string
  readonly args: { marks: string[] }
  readonly model: string
  readonly request: { readonly messages: readonly Readonly<Message>[] }
  readonly state: Record<string, number>
  output: string | null
  emit(event: { type: `${string}:${string}`; label: string }): void
  once(key: string, fn: () => Promise<void>): Promise<void>
  addMessage(message: { role: 'user'; content: string }): void
  setModel(name: unknown): void
  modifyArgs(args: object): void
  stop(reason: string): void
  block(reason: string): never
  abort(reason: unknown): never
  deny(reason: string): Given
  skipCall(answer: string): Given
  hold(): void
  onChunk(fn: (chunk: ContentChunk) => unknown): void
  pipe(fn: ReturnType<typeof pipeOf>): void
}
type Next = (options?: { signal: AbortSignal }) => Promise<Given>

/** A layer that does what the case says. */
export function layerOf(story: Story, scope: ScopeName, plan: LayerPlan, inherit?: true): Middleware {
  return {
    name: plan.name,
    ...(plan.reenters && { reenters: true }),
    ...(inherit && { inherit }),
    state: { [plan.name]: { default: 0, reducer: (sum: number, one: number) => sum + one } },
    [scope]: (ctx: Context, next: Next) => (story.calm ? next() : new Running(story, scope, plan, ctx, next).run()),
  }
}

class Running {
  #given: Given | undefined
  /** Turn scope: whether its last next() succeeded, and the answer that it gave itself. */
  #answered = false
  #own = ''
  readonly #key: string
  readonly #visit: number

  constructor(
    readonly story: Story,
    readonly scope: ScopeName,
    readonly plan: LayerPlan,
    readonly ctx: Context,
    readonly next: Next,
  ) {
    this.#key = scope === 'turn' ? 'turn' : scope === 'model' ? `m${ctx.callIndex}` : `t${ctx.callId}`
    this.#visit = story.count(`visit ${this.#key} ${plan.name}`)
  }

  async run(): Promise<unknown> {
    await this.story.noise()
    const what = await this.#perform(this.plan.acts, '')
    if (this.scope === 'turn') return undefined
    return what === undefined ? this.#given : this.#answerOf(what)
  }

  #answerOf({ what }: Return): unknown {
    const given = this.#given
    if (what === 'own') return `own of ${this.plan.name}, who sees ${this.#seen()}`
    if (what === 'nothing' || given === undefined) return undefined
    if ('text' in given) return { ...given, text: what === 'append' ? `${given.text}+` : `(${given.text})` }
    return { ...given, content: what === 'append' ? `${given.content}+` : `(${given.content})` }
  }

  /** The acts, as the specification reads them. */
  async #perform(acts: readonly Act[], path: string): Promise<Return | undefined> {
    for (const [i, act] of acts.entries()) {
      const here = `${path}.${i}`
      if (act.do === 'return') return act
      if (act.do === 'wait') await this.#wait(act.for, here, act.deaf ? undefined : this.ctx.signal)
      else if (act.do === 'try') {
        const what = await this.#attempted(act, here)
        if (what !== undefined) return what
      } else if (act.do === 'next') {
        this.#given = undefined
        this.#answered = false
        const result = this.next(...this.#narrowing(act.within, here))
        result.then(
          () => {
            this.#answered = true
          },
          () => {},
        )
        const what = await this.#perform(act.meanwhile ?? [], `${here}m`)
        if (what !== undefined) return what
        this.#given = await result
      } else if (act.do === 'later') void this.#later(act, here).catch(() => {})
      else if (act.do === 'once') await this.#once(act)
      else this.#verb(act, here)
      await this.story.noise()
    }
    return undefined
  }

  async #attempted(act: Act & { do: 'try' }, here: string): Promise<Return | undefined> {
    let what: Return | undefined
    try {
      what = await this.#perform(act.acts, `${here}t`)
    } catch (error) {
      if (act.catch === undefined) throw error
      await this.story.noise()
      what = await this.#perform(act.catch, `${here}c`)
    } finally {
      if (act.finally !== undefined) what = (await this.#perform(act.finally, `${here}f`)) ?? what
    }
    return what
  }

  async #later(act: Act & { do: 'later' }, here: string): Promise<void> {
    await this.#wait(act.after, here)
    await this.#perform(act.acts, `${here}l`)
  }

  #wait(coarse: number, path: string, signal?: AbortSignal): Promise<void> {
    return this.story.clock.wait(this.#lasts(coarse, path), signal)
  }

  #lasts(coarse: number, path: string): number {
    return ticks(coarse, `${this.#key}/${this.plan.name}${path}/${this.#visit}`)
  }

  #narrowing(within: number | undefined, path: string): [] | [{ signal: AbortSignal }] {
    if (within === undefined) return []
    const controller = new AbortController()
    const late = () => controller.abort(new Planned(`deadline of ${this.plan.name}${path}`))
    if (within === 0) late()
    else this.story.clock.after(this.#lasts(within, path), late)
    return [{ signal: controller.signal }]
  }

  #once({ key, takes, fails = 0 }: Act & { do: 'once' }): Promise<void> {
    const { story, scope } = this
    const whole = scope === 'tool' ? `${this.#key}:${key}` : key
    return this.ctx.once(key, async () => {
      const n = story.onceRan(whole)
      await story.clock.wait(ticks(takes, `once ${whole} ${n}`))
      if (n < fails) throw new Planned(`once ${whole}`)
    })
  }

  #verb(act: Act, path: string): void {
    const { ctx, plan, scope } = this
    const label = `${act.do} by ${plan.name}${path}`
    switch (act.do) {
      case 'throw':
        throw new Planned(label)
      case 'state':
        ctx.state[plan.name] = 1
        return
      case 'emit':
        return ctx.emit({ type: 'case:event', label })
      case 'stop':
        return ctx.stop(label)
      case 'block':
        return ctx.block(label)
      case 'abort':
        return ctx.abort(label)
      case 'deny':
        return void ctx.deny(label)
      case 'skip':
        return void ctx.skipCall(label)
      case 'mark':
        return this.#mark(scope)
      case 'use':
        return ctx.setModel(this.story.refOf(act.model))
      case 'output':
        return this.#answer(act.what)
      case 'hold':
        return ctx.hold()
      case 'map':
        return ctx.onChunk(mapOf(act.how))
      case 'pipe':
        return ctx.pipe(pipeOf(act.how, () => this.story.noise()))
    }
  }

  /** What would be sent from where it stands. */
  #seen(): string {
    const { ctx, scope } = this
    return [
      scope === 'model' ? ctx.model : '',
      ...(scope === 'model' ? marksIn(ctx.request.messages) : ctx.args.marks),
    ].join()
  }

  /** After a success it adds to the answer; else the layer answers, by itself. */
  #answer(what: 'own' | 'append'): void {
    const before = this.#answered ? (this.ctx.output ?? '') : this.#own
    this.#own = what === 'own' ? `output of ${this.plan.name}` : `${before}+`
    this.ctx.output = this.#own
  }

  #mark(scope: ScopeName): void {
    const mark = `${this.plan.name}#${this.ctx.attempt}`
    if (scope === 'model') this.ctx.addMessage({ role: 'user', content: `#${mark}` })
    else this.ctx.modifyArgs({ marks: [...this.ctx.args.marks, mark] })
  }
}
