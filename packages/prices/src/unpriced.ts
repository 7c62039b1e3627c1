import type { Logger } from '@allium/core'

/**
 * Logs, once for each model, that nobody knows its price.
 *
 * @param layer who counts
 * @param instead what is done in place of a price
 */
export function tellUnpriced(layer: string, instead: string): (logger: Logger, model: string) => void {
  const told = new Set<string>()
  return (logger, model) => {
    if (told.has(model) || told.size >= maxTold) return
    told.add(model)
    logger.warn(`"${layer}" knows no price of the model "${model}", so ${instead}. Give its price in prices.`, {
      model,
    })
  }
}

/** Model ids may come from tenants. */
const maxTold = 100
