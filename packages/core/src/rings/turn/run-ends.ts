import type { CoreEvents } from '../../events/events.ts'

/** How a run ended: its `turn:end`, with the error of one that was aborted, blocked or failed. */
export type RunEnd = CoreEvents['turn:end']

type OnEnd = (end: RunEnd) => unknown

/** What layers do when their run has ended: one after the other, the last that was added first, whatever the others throw. */
export class RunEnds {
  readonly #all: { readonly fn: OnEnd; readonly layer: string }[] = []

  add(fn: OnEnd, layer: string): void {
    this.#all.push({ fn, layer })
  }

  async run(end: RunEnd, failed: (layer: string, error: unknown) => void): Promise<void> {
    for (let last = this.#all.pop(); last !== undefined; last = this.#all.pop())
      try {
        await last.fn({ ...end })
      } catch (error) {
        failed(last.layer, error)
      }
  }
}
