export type { Per, Window } from './account.ts'
export { type BudgetExceeded, type BudgetOptions, type BudgetState, budget, type OnLimit } from './budget.ts'
export type { Price, Prices } from './price.ts'
