import type { RunStatus } from '@allium/core'
import { toBeValidHistory, toHaveEnded, toHaveLeaked, toUnwind } from './run-matchers.ts'
import { toHaveSent, toHaveStreamed } from './text-matchers.ts'
import { toHaveCalledTool, toHaveCalledTools } from './tool-matchers.ts'

/**
 * The matchers for `expect.extend(matchers)`, in vitest and jest. In vitest, `import '@allium/testing/vitest'` registers them and adds the
 * types.
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

/** The matchers that are added to `expect(value)`. */
export interface AlliumMatchers {
  /**
   * Passes if the model called the tool, with any outcome. For a result, events, a history, or the result of `runLayer`.
   *
   * @param args the minimum arguments; RegExps for texts and matchers such as `expect.any(Number)` are supported
   */
  toHaveCalledTool(name: string, args?: object): void
  /** Passes if the model called exactly these tools, in this order. */
  toHaveCalledTools(names: readonly string[]): void
  /**
   * Passes if the run ended with this status. For a result, events, an error of a run, or the result of `runLayer`. A text is the whole
   * reason.
   */
  toHaveEnded(status: RunStatus, reason?: string | RegExp): void
  /** Passes if the readers' final text contains the text, without parts that a `model:reset` retracted. */
  toHaveStreamed(text: string | RegExp): void
  /** Passes if a message that reached the model contains the text. For a scripted model, or the result of `runLayer`. */
  toHaveSent(text: string | RegExp): void
  /** Passes if every tool call has exactly one result, after it. For a history, a session, or the result of `runLayer`. */
  toBeValidHistory(): void
  /** Passes if the secret occurs anywhere, even split by a stream; usually used as `.not.toHaveLeaked(secret)`. */
  toHaveLeaked(secret: string | RegExp): void
  /** Passes if the layers were entered in this order and left in reverse. For a log of `traceLayer`. */
  toUnwind(names: readonly string[]): void
}
