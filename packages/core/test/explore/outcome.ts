/** What comes of a case, as far as it is compared. */
export interface Outcome {
  readonly status: string
  /** The label of what the run rejected with, or the reason of a block or stop. */
  readonly why: string
  readonly text: string
  /** The text as a screen that honours resets shows it. */
  readonly shown: string
  readonly history: readonly string[]
  /** Physical calls in the order in which they began: whom, with what. */
  readonly calls: readonly string[]
  readonly usage: number
  /** Streams that were opened and not closed. */
  readonly open: number
  /** What layers wrote, by layer, up to `turn:end`. */
  readonly state: Readonly<Record<string, number>>
  /** Events of layers: to observers, and those that went into the stream; sorted, as one instant has no order. */
  readonly heard: readonly string[]
  readonly streamed: readonly string[]
  /** How often each `once` ran. */
  readonly once: Readonly<Record<string, number>>
  /** What layers tried once their attempt was over, by layer and verb. */
  readonly late: readonly string[]
  /** When `turn:end` came. */
  readonly endedAt: number
}

/** Something that happened at a time. */
export interface Moment {
  readonly at: number
  readonly line: string
}

/** In their order; what happens at one instant has none, and is sorted. */
export function inOrder(moments: readonly Moment[]): string[] {
  return [...moments].sort((a, b) => a.at - b.at || (a.line < b.line ? -1 : 1)).map(({ line }) => line)
}
