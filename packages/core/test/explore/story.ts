import type { Agent, LayerEvent, Message, ModelChunk, RunResult, StreamEvent } from '../../src/index.ts'
import type { Case } from './case.ts'
import { CaseClock } from './clock.ts'
import { broken } from './invariants.ts'
import type { Extras } from './kinds.ts'
import { labelOf } from './label.ts'
import { modelOf } from './models.ts'
import { microtasks, random } from './noise.ts'
import { inOrder, type Moment, type Outcome } from './outcome.ts'

export interface End {
  readonly result?: RunResult<object>
  readonly error?: unknown
}
/** How a session stands after a run. */
export interface After {
  readonly history: readonly Readonly<Message>[]
  /** Where what the run added begins. */
  readonly from: number
  readonly state: object
  readonly pending: readonly string[]
}
type Event = { readonly type: string } & Record<string, unknown>
type Listen = (name: string, fn: (event: Event) => void) => void

/** What happens in a case, as it is seen from outside. */
export class Story {
  readonly clock = new CaseClock()
  readonly noise: () => Promise<void>
  readonly broken: string[] = []
  /** The turn is over, and the next one runs: layers pass it on. */
  calm = false
  /** How long the model of the next turn takes; what is late may do its harm meanwhile. */
  nextTakes = 50
  readonly #counts = new Map<string, number>()
  readonly #calls: Moment[] = []
  readonly #onces: Record<string, number> = {}
  readonly #labels: string[] = []
  readonly #streamed: string[] = []
  readonly #late = new Set<string>()
  readonly #answers: string[] = ['']
  readonly #heard: string[] = []
  readonly #read: string[] = []
  #open = 0
  #endedAt = 0

  constructor(
    readonly plan: Case,
    seed: number,
    readonly extras: Extras = {},
  ) {
    // Layers of packs have limits of their own.
    if (extras.layers !== undefined) this.nextTakes = 1
    const next = random(seed)
    this.noise = () => microtasks(next)
  }

  /** How often this has been asked before. */
  count(what: string): number {
    const n = this.#counts.get(what) ?? 0
    this.#counts.set(what, n + 1)
    return n
  }

  /** A model, by its name alone where it is to be found late. */
  refOf(name: string): unknown {
    return this.plan.models[name]?.found === undefined ? modelOf(this, name) : name
  }

  called(line: string): void {
    if (this.calm) this.broken.push(`${line.trim()} was called after turn:end`)
    else this.#calls.push({ at: this.clock.now(), line })
  }

  onceRan(key: string): number {
    const n = this.#onces[key] ?? 0
    if (!this.calm) this.#onces[key] = n + 1
    return n
  }

  /** How often a tool ran. */
  ran(tool: string): number {
    return this.#calls.filter(({ line }) => line.startsWith(`${tool} `)).length
  }

  /** A stream that is counted until it has ended or was closed. */
  opened(stream: AsyncGenerator<ModelChunk>): AsyncIterable<ModelChunk> {
    this.#open++
    let open = true
    const close = () => {
      if (open) this.#open--
      open = false
    }
    const iterator: AsyncIterator<ModelChunk> = {
      async next() {
        try {
          const result = await stream.next()
          if (result.done === true) close()
          return result
        } catch (error) {
          close()
          throw error
        }
      },
      async return() {
        close()
        return { value: undefined, done: true }
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  listen(agent: Agent): void {
    const on = agent.on.bind(agent) as unknown as Listen
    for (const type of ['model:start', 'model:end', 'tool:start', 'tool:end', 'model:chunk', 'model:reset'])
      on(type, (event) => this.#hears(type, event))
    on('turn:end', (event) => {
      if ('path' in event) return
      this.#hears('turn:end')
      if (!this.#closed) this.#endedAt = this.clock.now()
      this.calm = true
    })
    on('case:event', ({ label }) => {
      this.#hears('case:event')
      if (!this.calm) this.#labels.push(String(label))
    })
    on('layer:late', ({ layer, verb }) => {
      this.#hears('layer:late')
      const name = verb === 'skip' ? 'skipCall' : String(verb)
      if (verbs.has(name) && !this.calm) this.#late.add(`${layer} ${name}`)
    })
  }

  /** Events of the turn alone, not of the next one. */
  #hears(type: string, event: object = {}): void {
    if (!this.#closed && !('path' in event)) this.#heard.push(type)
  }
  #closed = false

  /** Another run of the same turn begins: what is seen is that run's. */
  again(): void {
    this.calm = false
    this.#answers.splice(0, this.#answers.length, '')
    this.#heard.length = this.#read.length = 0
  }

  /** From here on events belong to another turn. */
  close(): void {
    this.#closed = true
  }

  read(event: StreamEvent | LayerEvent): void {
    const { type, label, delta, path } = event as Event
    if (path !== undefined) return
    this.#read.push(type)
    const answers = this.#answers
    if (type === 'text-delta') answers.push(answers.pop() + String(delta))
    else if (type === 'model:reset') answers.splice(-1, 1, '')
    else if (type === 'step:start' || type === 'tool:end') answers.push('')
    else if (type === 'case:event') this.#streamed.push(String(label))
  }

  outcome({ result, error }: End, { history, from, state, pending }: After): Outcome {
    const partial = (error as { partial?: RunResult<object> } | undefined)?.partial
    const seen = {
      status: result?.status ?? (nameOf(error) === 'AbortError' ? 'aborted' : 'failed'),
      text: (result ?? partial)?.text ?? '',
      shown: this.#answers.join(''),
      open: this.#open,
    }
    const whole = typeof this.plan.reader === 'string'
    const events = whole ? this.#read : undefined
    this.broken.push(
      ...broken({
        ...seen,
        onRetryAfterOutput: this.plan.onRetryAfterOutput,
        events,
        heard: this.#heard,
        messages: history.slice(from),
        history,
        pending,
      }),
    )
    return {
      ...seen,
      why: result === undefined ? labelOf(error) : (result.reason ?? ''),
      history: history.flatMap(line),
      calls: inOrder(this.#calls),
      usage: (result ?? partial)?.usage?.calls ?? 0,
      state: nonZero(state as Record<string, number>),
      heard: [...this.#labels].sort(),
      streamed: [...this.#streamed].sort(),
      once: { ...this.#onces },
      late: [...this.#late].sort(),
      endedAt: this.#endedAt,
    }
  }
}

/** The verbs whose lateness is compared; how others are called in `layer:late` is open. */
const verbs = new Set(['stop', 'block', 'abort', 'deny', 'skipCall'])

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '')
const nonZero = (state: Record<string, number>) =>
  Object.fromEntries(Object.entries(state).filter(([, value]) => value !== 0))

/** A message as the specification writes it. */
function line({ role, content, interrupted }: Readonly<Message>): string | string[] {
  if (role === 'tool' && typeof content !== 'string')
    return content.map((part) =>
      part.type === 'tool-result' ? `tool | ${part.callId} ${textOf(part.content)}` : part.type,
    )
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const asks = parts.flatMap((part) => (part.type === 'tool-call' ? [part.callId] : []))
  return [role, text, ...asks, ...(interrupted === true ? ['interrupted'] : [])].join(' | ')
}

const textOf = (content: unknown) => String(content).replace(/The tool "(\w+)" took longer than \S+ ms\./, '$1 is late')
