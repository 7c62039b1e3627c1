import type { ModelResponse, NextOptions, State, ToolResult, Transforms } from '@allium/core'
import { AlliumError, BlockError, type BlockOptions, equalJson, messageOf, silence, toAbortError } from '@allium/core'
import type { AnyContext, HookPlace } from './combine.ts'
import { copyOf } from './copy.ts'
import { answerOf, callFields, transformed, transformedText } from './fork-call.ts'
import { forkHistory } from './fork-history.ts'
import type { ForkSession, ForkSessions } from './fork-state.ts'
import { type Decided, decisionVerbs, effectVerbs, fieldVerbs } from './fork-verbs.ts'

type Verb = 'pass' | 'skip' | 'deny' | 'suspend' | 'block' | 'abort' | 'throw' | 'change'

/** What a shadow would have done. */
export interface Verdict {
  decision: Verb
  reason?: string
  error?: unknown
}
type Fields = Record<string, unknown>

/**
 * A context beside the real one. Reads come from it, as copies; verbs and writes stay here, and are noted. Verbs that
 * this file does not know do nothing, so that one that is added to contexts later cannot leak.
 */
export class Fork {
  readonly ctx: AnyContext
  /** What would have been changed, each once. */
  readonly changes = new Set<string>()
  readonly #real: AnyContext
  readonly #place: HookPlace
  readonly #sessions: ForkSessions
  readonly #session: ForkSession | undefined
  /** Fields that are the fork's own: copies, and what was written. */
  readonly #own: Map<string, unknown>
  /** The same as they were. */
  readonly #before: Map<string, unknown>
  readonly #verbs: Fields
  readonly #transforms: Transforms = { steps: [], hold: false }
  /** What the real next() came to, as a copy; for the turn scope its output. */
  readonly #arrived: Promise<unknown>
  #arrive!: (value: unknown) => void
  #miss!: (error: unknown) => void
  /** The real result, to compare with; nobody else has it. */
  #result: unknown
  #missed = new Set<unknown>()
  #calls = 0
  #open = 0
  #ended: { verdict: Verdict; error: Error } | undefined
  #decided: Decided | undefined
  #stopped: string | undefined

  constructor(place: HookPlace, real: AnyContext, sessions: ForkSessions) {
    this.#place = place
    this.#real = real
    this.#sessions = sessions
    this.#session = sessions.of(place, real)
    this.#own = callFields(real)
    this.#before = copyOf(this.#own)
    this.#arrived = new Promise((resolve, reject) => {
      this.#arrive = resolve
      this.#miss = reject
    })
    silence(this.#arrived)
    const note = (what: string) => void this.changes.add(what)
    const sets = {
      own: this.#own,
      note,
      set: (key: string, value: unknown) => this.#set(key, value),
      provide: (name: string, value: unknown) => this.#sessions.provide(this.#session, name, value),
      provided: (name: string) => this.#sessions.provided(this.#session, name),
      once: (key: string, fn: () => unknown) => this.#session?.once(key, fn),
    }
    this.#verbs = {
      ...effectVerbs(real, sets),
      ...fieldVerbs(sets),
      ...decisionVerbs(real, place.layer, (...decided) => this.#decide(...decided)),
      abort: (reason?: unknown) => this.#end('abort', toAbortError(reason), reason),
      block: (reason: string, details?: BlockOptions) => this.#end('block', new BlockError(reason, details), reason),
      stop: (reason = 'stopped') => {
        this.#stopped ??= reason
        note('stop')
      },
      onChunk: (map: never) => this.#step('onChunk', { map }),
      pipe: (pipe: never) => this.#step('pipe', { pipe }),
      hold: () => this.#step('hold', undefined),
    }
    this.ctx = new Proxy({} as AnyContext, {
      get: (_, key) => this.#get(key),
      set: (_, key, value) => this.#set(String(key), value),
      has: (_, key) => typeof key === 'string' && !key.startsWith('$') && key in real,
      deleteProperty: () => false,
      defineProperty: () => false,
      setPrototypeOf: () => false,
    })
  }

  /** The real call, as soon as it is entered. */
  follow(real: Promise<unknown>): void {
    real.then(
      (value) => this.#arriveWith(this.#place.scope === 'turn' ? this.#real.output : value),
      (error) => {
        const copy = copyOf(error)
        this.#missed.add(copy)
        this.#miss(copy)
      },
    )
  }

  /** next() of the shadow: waits for the real one. It may be dropped. */
  readonly next = (options?: NextOptions): Promise<unknown> => {
    const inside = this.#next(options)
    silence(inside)
    return inside
  }

  /** What the layer would have done by returning `value`. */
  returned(value: unknown): Verdict {
    if (this.#ended !== undefined) return this.#ended.verdict
    if (this.#open > 0) return this.#threw('It returned while its next() was still running.')
    if (this.#decided !== undefined && this.#decided.decision !== 'skip') return this.#verdictOf(this.#decided)
    const problem = this.#weigh(value)
    if (problem !== undefined) return this.#threw(problem)
    this.#compareFields()
    if (this.#decided !== undefined) return this.#verdictOf(this.#decided)
    if (this.#calls === 0) return { decision: 'skip' }
    if (this.changes.size === 0) return { decision: 'pass' }
    return { decision: 'change', ...(this.#stopped !== undefined && { reason: this.#stopped }) }
  }

  /** What it would have done by throwing. */
  threw(error: unknown): Verdict {
    if (this.#ended !== undefined) return this.#ended.verdict
    this.#compareFields()
    if (this.#missed.has(error)) return { decision: this.changes.size === 0 ? 'pass' : 'change' }
    return { decision: 'throw', reason: messageOf(error), error }
  }

  async #next(options: NextOptions | undefined): Promise<unknown> {
    if (this.#ended !== undefined) throw this.#ended.error
    if (this.#decided !== undefined) return this.#decided.value
    if (++this.#calls > 1) this.changes.add('another next()')
    this.#open++
    try {
      return await this.#inside(options?.signal)
    } finally {
      this.#open--
    }
  }

  async #inside(signal: AbortSignal | undefined): Promise<unknown> {
    const value = await (signal === undefined ? this.#arrived : unlessAborted(this.#arrived, signal))
    const { layer, scope } = this.#place
    const changes = this.#transforms.steps.length > 0
    if (scope === 'model') return changes ? transformed(layer, this.#transforms, value as ModelResponse) : copyOf(value)
    if (scope !== 'turn') return copyOf(value)
    const text = value as string | null
    const output = changes && text !== null ? await transformedText(layer, this.#transforms, text) : text
    this.#own.set('output', output)
    if (output !== text) this.changes.add('output')
  }

  #arriveWith(value: unknown): void {
    this.#result = copyOf(value)
    this.#arrive(copyOf(value))
  }

  /** Takes what was returned; gives what would have been an error. */
  #weigh(value: unknown): string | undefined {
    const { scope, layer } = this.#place
    if (scope === 'agent' || scope === 'session') return this.#calls === 0 ? 'It returned without next().' : undefined
    if (scope === 'turn')
      return this.#calls === 0 && this.#own.get('output') === undefined
        ? 'It returned without next() and without an output.'
        : undefined
    if (value === undefined) return this.#decided === undefined ? 'It returned nothing.' : undefined
    let answer: ModelResponse | ToolResult
    try {
      answer = answerOf(this.#real, layer, value)
    } catch (error) {
      return messageOf(error)
    }
    if (this.#calls > 0 && this.#decided === undefined && !sameAnswer(this.#result, answer))
      this.changes.add(scope === 'model' ? 'response' : 'result')
  }

  #compareFields(): void {
    for (const [key, before] of this.#before) if (!equalJson(before, this.#own.get(key))) this.changes.add(key)
  }

  #threw(reason: string): Verdict {
    return { decision: 'throw', reason }
  }

  #verdictOf({ decision, reason }: { decision: Verb; reason?: string }): Verdict {
    return { decision, ...(reason !== undefined && { reason }) }
  }

  #get(key: PropertyKey): unknown {
    if (typeof key !== 'string' || key.startsWith('$')) return undefined
    if (this.#own.has(key)) return this.#own.get(key)
    const real = this.#real as unknown as Fields
    if (key === 'messages' && real.request === undefined && key in real) return this.#copyOnce(key, real[key])
    if (key === 'request' && real.request !== undefined) return this.#request()
    const verb = this.#verbs[key]
    if (verb !== undefined && key in real) return verb
    const value = real[key]
    if (typeof value === 'function') return () => void this.changes.add(key)
    if (typeof value !== 'object' || value === null || asTheyAre.has(key)) return value
    if (key === 'state') return this.#session?.state(value as State, (name) => this.changes.add(`state ${name}`))
    if (key === 'metadata') return this.#metadata(value as State)
    if (key === 'history')
      return this.#keep(
        key,
        forkHistory(this.#real.history as never, () => this.changes.add('history')),
      )
    return key === 'usage' ? copyOf(value) : this.#keep(key, copyOf(value))
  }

  #set(key: string, value: unknown): boolean {
    this.#own.set(key, value)
    this.changes.add(key)
    return true
  }

  #keep(key: string, value: unknown): unknown {
    this.#own.set(key, value)
    return value
  }

  #copyOnce(key: string, value: unknown): unknown {
    this.#before.set(key, copyOf(value))
    return this.#keep(key, copyOf(value))
  }

  #metadata(real: State): State {
    const wrote = (name: string) => this.changes.add(`metadata ${name}`)
    return (this.#session ?? this.#sessions).scratch.metadata(real, wrote)
  }

  #request(): unknown {
    const own = Object.fromEntries(this.#own)
    const { messages, toolDefs: tools, settings, toolChoice, responseFormat } = own
    return copyOf({ messages, tools, settings, toolChoice, responseFormat })
  }

  #decide(decision: Decided['decision'], value: Decided['value'], reason?: string): unknown {
    const stays = this.#decided !== undefined && strength[this.#decided.decision] >= strength[decision]
    if (!stays) this.#decided = { decision, value, ...(reason !== undefined && { reason }) }
    return this.#decided?.value
  }

  #step(verb: string, step: Transforms['steps'][number] | undefined): void {
    if (this.#calls > 0 || this.#place.scope === 'tool')
      throw new AlliumError('layer.late_transform', `ctx.${verb}() comes in a turn or model hook, before next().`)
    if (step !== undefined) this.#transforms.steps.push(step)
  }

  #end(decision: 'abort' | 'block', error: Error, reason: unknown): never {
    this.#ended ??= { verdict: { decision, ...(reason !== undefined && { reason: messageOf(reason) }) }, error }
    throw this.#ended.error
  }
}

const strength = { skip: 0, suspend: 1, deny: 2 }
/** Services: nothing in them is the run's. */
const asTheyAre = new Set(['clock', 'logger', 'signal'])

/** By value: of a response the text and the calls, of a tool's result the content. */
function sameAnswer(a: unknown, b: unknown): boolean {
  const said = (answer: unknown) => {
    const { text, toolCalls, content, isError = false } = answer as Partial<ModelResponse & ToolResult>
    return { text, content, isError, calls: toolCalls?.map(({ callId, name, args }) => ({ callId, name, args })) }
  }
  return equalJson(said(a), said(b))
}

function unlessAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
