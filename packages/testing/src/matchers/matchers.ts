import type { RunStatus } from '@allium/core'
import { toBeValidHistory, toHaveEnded, toHaveLeaked, toUnwind } from './run-matchers.ts'
import { toHaveSent, toHaveStreamed } from './text-matchers.ts'
import { toHaveCalledTool, toHaveCalledTools } from './tool-matchers.ts'

/**
 * The matchers for `expect.extend(matchers)`, in vitest and jest. In vitest `import '@allium/testing/vitest'` does it, and adds the types.
 */
export const matchers = {
  toBeValidHistory,
  toHaveCalledTool,
  toHaveCalledTools,
  toHaveEnded,
  toHaveLeaked,
  toHaveSent,
  toHaveStreamed,
  toUnwind,
}

/** What the matchers add to `expect(value)`. */
export interface AlliumMatchers {
  /**
   * The model asked for the tool, whatever became of the call. Of a result, events, a history, or what `runLayer` gave.
   *
   * @param args what the arguments have at least; a RegExp for a text, and `expect.any(Number)` and the like, are taken
   */
  toHaveCalledTool(name: string, args?: object): void
  /** The model asked for these tools, in this order, and for no others. */
  toHaveCalledTools(names: readonly string[]): void
  /** The run ended so. Of a result, events, an error of a run, or what `runLayer` gave. A text is the whole reason. */
  toHaveEnded(status: RunStatus, reason?: string | RegExp): void
  /** What readers of the events are left with contains the text; what a `model:reset` took back does not count. */
  toHaveStreamed(text: string | RegExp): void
  /** A message that reached the model contains the text. Of a scripted model, or what `runLayer` gave. */
  toHaveSent(text: string | RegExp): void
  /** Every tool call has exactly one result, after it. Of a history, a session, or what `runLayer` gave. */
  toBeValidHistory(): void
  /** The secret can be read somewhere, also where a stream cut it in two; mostly as `.not.toHaveLeaked(secret)`. */
  toHaveLeaked(secret: string | RegExp): void
  /** The layers were entered in this order and left in reverse. Of a log that `traceLayer` wrote. */
  toUnwind(names: readonly string[]): void
}
