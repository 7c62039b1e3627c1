import type { Act, Case, LayerPlan } from '../case.ts'
import type { Moment, Outcome } from '../outcome.ts'
import { Cell, type VirtualTime } from './virtual-time.ts'

/** What is thrown, by its label. */
export class Fault {
  constructor(
    readonly label: string,
    readonly first?: Fault,
  ) {}
}

export type ScopeOfCase = 'turn' | 'model' | 'tool'

/** One way through the onion of a scope: the turn, a model call, a tool call. */
export interface Call {
  readonly scope: ScopeOfCase
  /** Where its durations come from: "turn", "m0", "t-c1". */
  readonly key: string
  readonly layers: readonly LayerPlan[]
  readonly core: (attempt: Attempt) => Generator<Cell, Answer, unknown>
  /** The attempt in whose core it runs. */
  readonly around: Attempt | undefined
  /** The last number that an attempt took. */
  numbers: number
  denied: Answer | undefined
  readonly visits: Map<string, number>
}

/** What a call comes to: the answer of a model, or the result of a tool. */
export interface Answer {
  readonly text: string
  readonly asks: readonly string[]
  readonly status?: string
}

/** What is sent. */
export interface Fields {
  readonly model: string
  readonly marks: readonly string[]
}

export interface Attempt {
  readonly call: Call
  /** The layer whose next() opened it; none for the call itself. */
  readonly caller: Layer | undefined
  readonly number: number
  readonly place: Place
  fields: Fields
  /** 'ended': it failed because the run did, so what inside it still unwinds counts. */
  state: 'running' | 'succeeded' | 'failed' | 'left' | 'ended'
  leftAt?: number
  spared?: boolean
  /** What the caller gets. */
  readonly result: Cell<Answer>
  /** What runs right inside: a layer, or the core. */
  layer?: Layer
  core?: Cell<Answer>
  /** What entered the caller's place in the stream, and what left it: so far, and held back. */
  used: boolean
  out: readonly Piece[]
  held: readonly Piece[]
  pipes: readonly Transform[]
}

/** A layer that runs, in the attempt that it stands in. */
export interface Layer {
  readonly plan: LayerPlan
  readonly attempt: Attempt
  readonly visit: number
  exited: boolean
  readonly done: Cell<undefined>
  /** Turn scope: the answer that it gives itself. */
  output?: string
  /** The attempt that its last next() opened. */
  inner?: Attempt
  /** What its last next() rejected with, and gave. */
  failed?: Fault | undefined
  given?: Answer | undefined
  skip?: Answer
  readonly transforms: Extract<Act, { do: 'map' | 'pipe' }>[]
  holds: boolean
  next(within: number | undefined, path: string): Cell<Answer>
}

/** A place of cancellation. */
export interface Place {
  readonly outer: Place | undefined
  reason: Fault | undefined
  readonly waiting: Set<Cell>
}

/** A message of the history. */
export interface Entry {
  readonly role: 'user' | 'assistant' | 'tool'
  text: string
  readonly asks?: readonly string[]
  readonly interrupted?: true
}

export function outerOf({ caller, call }: Attempt): Attempt | undefined {
  return caller?.attempt ?? call.around
}

export type Piece = string | { readonly asks: string }
export interface Transform {
  push(piece: Piece): readonly Piece[]
  /** The stream that feeds it is over. */
  end(failed: boolean): readonly Piece[]
}

const aspects = 'status why text shown history calls usage state heard streamed once late endedAt'.split(
  ' ',
) as readonly (keyof Outcome)[]

/** The run: what all its calls share. */
export class Run {
  readonly attempts: Attempt[] = []
  readonly layers: Layer[] = []
  readonly root: Place = { outer: undefined, reason: undefined, waiting: new Set() }
  ended: { readonly kind: 'aborted' | 'blocked' | 'failed'; readonly error: Fault; readonly at: number } | undefined
  stopped: string | undefined
  /** The outermost layer has returned; then `turn:end` is told. */
  decided = false
  over = false
  /** What was shown of each answer, the present one last. */
  answers: Piece[][] = [[]]
  /** The same of what turn layers hold. */
  kept: Piece[][] = []
  readonly holders = new Set<Layer>()
  /** When each `once` began. */
  readonly began = new Map<string, number>()
  /** A model was asked. */
  asked = false
  dropHeld: ((holder: Layer) => void) | undefined
  readonly history: Entry[] = []
  /** The message of the present answer, once it is in the history. */
  answer: Entry | undefined
  /** Messages whose text nobody has seen, because a turn layer holds it. */
  readonly heldBack: Entry[] = []
  /** What was held and shown at once with the present answer. */
  together: { readonly answers: Piece[][]; readonly messages: readonly Entry[] } | undefined
  /** The part of the answer that had left all layers before its tools ran. */
  flushed = ''
  /** The loop has come to its end. */
  complete = false
  /** Puts the results of the running tools into the history. */
  closeStep: (() => void) | undefined
  /** When a piece last came out of a layer, and when the first one of the present answer was shown. */
  flowedAt = -1
  shownAt = -1
  /** When a failure of the run last woke a layer that waited. */
  wokeAt = -1
  readonly late = new Set<string>()
  physical = 0
  readonly calls: Moment[] = []
  readonly state: Record<string, number> = {}
  readonly heard: string[] = []
  readonly streamed: string[] = []
  readonly onces: Record<string, number> = {}
  readonly doing = new Map<string, Cell<boolean>>()
  readonly counts = new Map<string, number>()
  output: string | undefined
  /** Aspects that the rules leave open here. */
  readonly open = new Set<keyof Outcome>()

  constructor(
    readonly plan: Case,
    readonly time: VirtualTime,
  ) {}

  /** Whether the reader has seen something of the present call. */
  get visible(): boolean {
    return this.holders.size === 0 && (this.answers.at(-1)?.length ?? 0) > 0
  }

  /** Who shared a `once` goes on, at the instant at which the other does. Reading 13. */
  shares(): void {
    this.#sharedAt = this.time.now
    if (this.#decidedAt === this.time.now) this.openAll()
  }
  /** Something happens that others of this instant may come before or after. */
  decides(): void {
    this.#decidedAt = this.time.now
    if (this.#sharedAt === this.time.now) this.openAll()
  }
  #sharedAt = -1
  #decidedAt = -1

  /** Nothing of the case is fixed but what always holds. */
  openAll(): void {
    for (const aspect of aspects) this.open.add(aspect)
  }

  cell<T>(): Cell<T> {
    return new Cell<T>(this.time)
  }
  called(line: string): void {
    this.calls.push({ at: this.time.now, line })
  }
  /** How often this has been asked before. */
  count(what: string): number {
    const n = this.counts.get(what) ?? 0
    this.counts.set(what, n + 1)
    return n
  }
}
