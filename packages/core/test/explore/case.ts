/** A case is plain data: what everybody does and how long it takes. `spec/` says what comes of it, `world.ts` tries it. */
export interface Case {
  /** The layers of a turn, outermost first. A layer stands in one scope. */
  readonly turn: readonly LayerPlan[]
  readonly model: readonly LayerPlan[]
  readonly tool: readonly LayerPlan[]
  /** By name; "m0" is the agent's own. */
  readonly models: Readonly<Record<string, ModelPlan>>
  readonly tools: Readonly<Record<string, ToolPlan>>
  /** When somebody outside aborts the run, if nothing has ended it before. */
  readonly abortAt?: number
  readonly reader: Reader
  readonly onRetryAfterOutput?: 'fail'
  readonly toolConcurrency?: number
}

export interface LayerPlan {
  readonly name: string
  readonly reenters?: true
  readonly acts: readonly Act[]
}

/**
 * What a layer does, one act after the other. At the end it returns what its last `next()` gave.
 * Durations are coarse: `ticks()` makes them distinct, so that no two things happen at once by chance.
 */
export type Act =
  /** Waits; `deaf` does not listen to `ctx.signal`. */
  | { readonly do: 'wait'; readonly for: number; readonly deaf?: true }
  /** `next()`, awaited. `within` narrows it by a signal that fires then (0: has fired). `meanwhile` is done before it is awaited. */
  | { readonly do: 'next'; readonly within?: number; readonly meanwhile?: readonly Act[] }
  | {
      readonly do: 'try'
      readonly acts: readonly Act[]
      readonly catch?: readonly Act[]
      readonly finally?: readonly Act[]
    }
  /** Goes on without the layer, `after` that long: it may have returned by then, or been left. */
  | { readonly do: 'later'; readonly after: number; readonly acts: readonly Act[] }
  /** Adds to what is sent: a message to a model call, a letter to the arguments of a tool. */
  | { readonly do: 'mark' }
  | { readonly do: 'use'; readonly model: string }
  | { readonly do: 'state' | 'emit' | 'stop' | 'block' | 'abort' | 'throw' | 'skip' | 'deny' }
  | { readonly do: 'once'; readonly key: string; readonly takes: number; readonly fails?: number }
  /** Stream verbs, before `next()`. */
  | { readonly do: 'hold' }
  | { readonly do: 'map'; readonly how: MapKind }
  | { readonly do: 'pipe'; readonly how: PipeKind }
  /** Returns an answer of its own, the given one with more behind it, a changed one, or nothing. */
  | { readonly do: 'return'; readonly what: 'own' | 'append' | 'rewrite' | 'nothing' }
  /** Turn scope: sets `ctx.output`. */
  | { readonly do: 'output'; readonly what: 'own' | 'append' }

export type MapKind = 'double' | 'drop' | 'star'
export type PipeKind = 'pass' | 'pairs' | 'brackets' | 'verdict' | 'few'

/** What a model does at each physical call; the last plan serves all further ones. */
export interface ModelPlan {
  /** It is named by a string, and found so late; never, or not at all. */
  readonly found?: { readonly after: number; readonly how: 'found' | 'never' | 'fails' }
  readonly calls: readonly ModelCallPlan[]
}
export interface ModelCallPlan {
  /** Before the first chunk. */
  readonly after: number
  readonly chunks: readonly string[]
  /** Before each further chunk, and before the end. */
  readonly gap: number
  readonly asks?: readonly string[]
  readonly end: 'finish' | 'throw' | 'cut' | 'hang'
}

export interface ToolPlan {
  readonly calls: readonly ToolCallPlan[]
  readonly timeout?: number
}
export interface ToolCallPlan {
  readonly takes: number
  readonly end: 'value' | 'throw' | 'hang'
  readonly deaf?: true
}

/** Nobody reads; reads at once; leaves after so many chunks; takes its time over each. With the last two only what holds for all cases is compared. */
export type Reader = 'none' | 'all' | { readonly leaves: number } | { readonly slow: number }

const unit = 2 ** 30

/** A coarse duration at one place of a case, as it is there: sums of such are distinct, and small ones stay the smaller. */
export function ticks(coarse: number, place: string): number {
  return coarse * unit + (hash(place) % unit)
}

/** How long `gracePeriod` is in all cases. */
export const grace = 40 * unit
/** The tool timeout, where a tool has none of its own. */
export const toolTimeout = 60 * unit

/** FNV-1a, then mixed: neighbours in the text come far apart. */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return (h ^ (h >>> 16)) >>> 0
}
