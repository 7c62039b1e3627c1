/** A piece of a UI message stream: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
export type UiChunk = { type: string; [field: string]: unknown }

/** The block of text or reasoning that is open: deltas of another one close it. */
export class Blocks {
  #count = 0
  #open: { kind: 'text' | 'reasoning'; of: string | undefined; id: string } | undefined;

  *delta(kind: 'text' | 'reasoning', of: string | undefined, delta: string): Generator<UiChunk> {
    if (this.#open?.kind !== kind || this.#open.of !== of) {
      yield* this.close()
      this.#open = { kind, of, id: `${kind}-${++this.#count}` }
      yield { type: `${kind}-start`, id: this.#open.id }
    }
    yield { type: `${kind}-delta`, id: this.#open.id, delta }
  }

  *close(): Generator<UiChunk> {
    if (this.#open !== undefined) yield { type: `${this.#open.kind}-end`, id: this.#open.id }
    this.#open = undefined
  }

  /** What was open has been taken back. */
  drop(): void {
    this.#open = undefined
  }
}
