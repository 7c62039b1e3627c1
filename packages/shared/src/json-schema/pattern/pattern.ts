import type { RE2JS } from 're2js'
import type { Budget } from '../check/budget.ts'
import { translate } from './translate.ts'

/** Steps for compiling a pattern, and for each of its instructions. */
const compiling = { pattern: 5_000, instruction: 50 }

/** RE2 in JavaScript. */
export type Re2 = typeof RE2JS

/** Imports RE2 with the first schema that has a pattern, because its 260 KB are more than those of all the rest. */
export async function loadRe2(): Promise<Re2> {
  return (await import('re2js')).RE2JS
}

/** A regular expression from an untrusted source, matched in linear time by RE2. */
export class Pattern {
  readonly source: string
  readonly size: number
  readonly #text: string
  readonly #re2: Re2
  #compiled: RE2JS | undefined

  /** @throws Unsupported for a pattern outside of the subset */
  constructor(source: string, re2: Re2) {
    const { text, size } = translate(source)
    this.source = source
    this.size = size
    this.#text = text
    this.#re2 = re2
  }

  /** Whether it matches anywhere in a text. @throws BudgetExceeded when that takes too many steps */
  test(text: string, budget: Budget): boolean {
    const compiled = this.#compile(budget)
    budget.consume(1 + Math.ceil((text.length + 1) * Math.max(1, compiled.programSize() / 4)))
    // Not `test()`, because its automaton takes up to 8 MB per pattern.
    return compiled.matcher(text).find()
  }

  #compile(budget: Budget): RE2JS {
    if (this.#compiled === undefined) {
      budget.consume(compiling.pattern + this.size * compiling.instruction)
      this.#compiled = this.#re2.compile(this.#text)
    }
    return this.#compiled
  }
}
