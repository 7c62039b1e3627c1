export { costAt, type Price } from './prices/cost.ts'
export { type CostOf, createPricing, type Prices } from './prices/pricing.ts'
export { createUnpricedWarning } from './prices/unpriced-warning.ts'
