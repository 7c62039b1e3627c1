import { type BoundMean, gaffke } from './gaffke.ts'
import { holm } from './holm.ts'
import type { Losses } from './losses.ts'

/**
 * The result of a gate: `pass` and `fail` are shown by the scores, each with an error of at most 5 %. `undecided` means too few cases for
 * either. `invalid` means that the scores cannot be used.
 */
export type Verdict = 'pass' | 'fail' | 'undecided' | 'invalid'

/** What the scores show about a mean loss. */
export interface Decision {
  readonly verdict: Exclude<Verdict, 'invalid'>
  /** The mean loss is above this bound, with an error of at most `alpha`. */
  readonly lower: number
  /** The mean loss is below this bound, with an error of at most `alpha`. */
  readonly upper: number
}

/** Decides gates. Create one for several calls, because its random draws take longer than a decision. */
export class Decider {
  readonly #bounds = new Map<string, BoundMean>()
  readonly #alpha: number
  readonly #draws: number

  /** @param alpha the largest probability of a wrong verdict, per side */
  constructor({ alpha = 0.05, draws = 20_000 }: { alpha?: number; draws?: number } = {}) {
    this.#alpha = alpha
    this.#draws = draws
  }

  /**
   * Decides gates together. A gate fails by Holm's procedure, because each further gate is one more chance of a false failure. It
   * passes on its own, because the whole only passes if all gates do.
   */
  decide(gates: readonly Losses[]): Decision[] {
    const alpha = this.#alpha
    const bounds = gates.map((losses) => {
      const boundMean = this.#boundMean(losses)
      const worst = boundMean(losses.worst)
      // Without invalid trials both are the same.
      return { worst, best: losses.best === losses.worst ? worst : boundMean(losses.best), limit: losses.limit }
    })
    const fails = holm(
      bounds.map(({ best, limit }) => best.pOfAtMost(limit)),
      alpha,
    )
    return bounds.map(({ best, worst, limit }, index) => ({
      verdict: fails[index] ? 'fail' : worst.pOfAtLeast(limit) <= alpha ? 'pass' : 'undecided',
      get lower() {
        return best.lower(alpha)
      },
      get upper() {
        return worst.upper(alpha)
      },
    }))
  }

  #boundMean({ low, high }: Losses): BoundMean {
    const key = `${low} ${high}`
    const known = this.#bounds.get(key) ?? gaffke({ low, high, draws: this.#draws })
    this.#bounds.set(key, known)
    return known
  }
}

/** Returns the verdict of all gates: the worst one. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  return (['fail', 'invalid', 'undecided'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'pass'
}
