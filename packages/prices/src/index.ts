export { costAt, type Price } from './cost.ts'
export { type CostOf, createPricing, type Prices } from './pricing.ts'
export { createUnpricedWarning } from './unpriced-warning.ts'
