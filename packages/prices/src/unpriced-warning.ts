import type { Logger } from '@allium/core'

/**
 * Logs, once for each model, that nobody knows its price.
 *
 * @param layer who counts
 * @param consequence what is done in place of a price
 */
export function createUnpricedWarning(layer: string, consequence: string): (logger: Logger, model: string) => void {
  const warned = new Set<string>()
  return (logger, model) => {
    if (warned.has(model) || warned.size >= maxWarned) return
    warned.add(model)
    logger.warn(`"${layer}" knows no price of the model "${model}", so ${consequence}. Give its price in prices.`, {
      model,
    })
  }
}

/** Model ids may come from tenants. */
const maxWarned = 100
