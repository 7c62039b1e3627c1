/** What comes of a case, as far as it is compared. */
export interface Outcome {
  readonly status: 'completed' | 'stopped' | 'blocked' | 'aborted' | 'failed' | 'suspended'
  /** The label of what the run rejected with, or the reason of a block or stop. */
  readonly why: string
  readonly text: string
  /** The text of each answer as a screen that honours resets shows it, where there is any. */
  readonly shown: readonly string[]
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

/** Aspects that hang on what the rules leave open in this case. */
export type Aspect = keyof Outcome
