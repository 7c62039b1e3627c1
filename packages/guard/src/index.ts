export type { Price, Prices } from '@allium/prices'
export type { Per, Window } from './account.ts'
export { type BudgetExceeded, type BudgetOptions, type BudgetState, budget, type OnLimit } from './budget.ts'
