import type { Logger } from '@allium/core'

/**
 * Returns a function that warns once per model about an unknown price.
 *
 * @param layer the layer that counts
 * @param consequence what it does without a price
 */
export function createUnpricedWarning(layer: string, consequence: string): (logger: Logger, model: string) => void {
  const warned = new Set<string>()
  return (logger, model) => {
    if (warned.has(model) || warned.size >= maxWarned) return
    warned.add(model)
    logger.warn(`"${layer}" has no price for the model "${model}", so ${consequence}. Set its price in prices.`, {
      model,
    })
  }
}

/** A limit, because model ids may come from tenants. */
const maxWarned = 100
