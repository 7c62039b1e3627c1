export { costAt, type Price } from './cost.ts'
export { type CostOf, createPricing, type Prices } from './pricing.ts'
export { tellUnpriced } from './unpriced.ts'
