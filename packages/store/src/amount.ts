import { AlliumError } from '@allium/core'
/** The largest amount that a ledger reserves or posts at once. Larger sums would lose small amounts, and with them parts of holds. */
export const mostAmount = 1e15

/** Checks an amount to reserve. @throws AlliumError `ledger.invalid` if it is below 0, above 1e15 or not a number */
export function checkAmount(amount: number): void {
  if (amount >= 0 && amount <= mostAmount) return
  throw new AlliumError(
    'ledger.invalid',
    `A ledger reserves amounts from 0 to ${mostAmount}, not ${amount}. Check the prices and the usage.`,
  )
}

/**
 * Returns the amount to post for a spent amount. Caps an amount that is too large, so that its reservation is still settled.
 *
 * @throws AlliumError `ledger.invalid` for a negative or non-finite amount
 */
export function postedAmount(spent: number): number {
  const posted = Number.isFinite(spent) ? Math.min(spent, mostAmount) : spent
  checkAmount(posted)
  return posted
}
