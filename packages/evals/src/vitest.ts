import { expect } from 'vitest'
import { type PassGatesOptions, toPassGates, toScore } from './report/matchers.ts'

/** Matchers for reports of `evaluate()`. */
interface EvalMatchers {
  /**
   * Passes if every gate of the report has the verdict `pass`. The message names the gates that have not, the cases that count against
   * them and the layers that decided in these.
   *
   * @example expect(await evaluate({ agent, cases, scorers, gates })).toPassGates()
   */
  toPassGates(options?: PassGatesOptions): void
  /**
   * Passes if the mean score of a scorer is at least this number, from 0 to 1. It looks at this run alone, without the statistics of a gate,
   * for models whose answers do not vary.
   *
   * @example expect(report).toScore('right', 0.9)
   */
  toScore(scorer: string, atLeast: number): void
}

expect.extend({ toPassGates, toScore })

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: vitest declares it so, and a merged interface has the same parameters
  interface Matchers<T = any> extends EvalMatchers {}
}

export type { EvalMatchers, PassGatesOptions }
