/** What an agent remembers of the caller. */
export interface MemoryView {
  /** Whether memory is on. While it is off, nothing is stored and nothing is recalled. */
  readonly on: boolean
  /** Since when it is off, in milliseconds since the epoch: by the person, or by an operator for the tenant. */
  readonly off: { readonly person?: number; readonly tenant?: number }
  /** The number of messages that recall can find. */
  readonly passages: number
  readonly blocks: readonly MemoryBlockView[]
}

/** A block of `memory.working`. */
export interface MemoryBlockView {
  /** The name of its layer. */
  readonly name: string
  readonly block: Readonly<Record<string, unknown>>
  /** The number of its changes. Send it with a change. */
  readonly version: number
  /** The JSON Schema of each field. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A block after one of its changes. */
export interface MemoryChangeView {
  readonly version: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly by: 'model' | 'person'
  readonly block: Readonly<Record<string, unknown>>
}

/** A message that recall can find. */
export interface MemoryPassage {
  /** Its conversation. */
  readonly sessionId: string
  readonly turnId: string
  /** Index of the message in the history. */
  readonly index: number
  readonly role: 'user' | 'assistant'
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Up to 4,000 characters. */
  readonly text: string
  /** Set if the text is longer. The conversation has all of it. */
  readonly isCut?: true
}
