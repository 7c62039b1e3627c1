import type { TurnView } from '@allium/core'
import type { PhysicalCall } from '@allium/core/internal'
import { costAt, createPricing, createUnpricedWarning, type Price, type Prices } from '@allium/shared/prices'

/** Returns what a call costs, in the budget's unit. */
export type Meter = (ctx: Pick<TurnView, 'logger'>, call: PhysicalCall) => Promise<number>

export async function countTokens(_: unknown, { usage }: PhysicalCall): Promise<number> {
  return usage.inputTokens + usage.outputTokens
}

export function usdMeter(layer: string, prices: Prices | undefined, fallback: Price): Meter {
  const pricing = createPricing(prices)
  const warnUnpriced = createUnpricedWarning(
    layer,
    `its calls are charged $${fallback.input} and $${fallback.output} for a million tokens (fallbackPrice)`,
  )
  return async ({ logger }, { model, usage }) => {
    const cost = await pricing(model, usage)
    if (cost === undefined) warnUnpriced(logger, model)
    return cost ?? costAt(fallback, usage)
  }
}
