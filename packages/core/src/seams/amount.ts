import { AlliumError } from '../errors/allium-error.ts'

/** The most that a ledger reserves or posts at once: beyond it a sum would lose small amounts, and holds could not be given back. */
export const mostAmount = 1e15

/** Checks an amount that a ledger is asked to reserve. @throws AlliumError `ledger.invalid` when it is below 0, above 1e15 or no number */
export function checkAmount(amount: number): void {
  if (amount >= 0 && amount <= mostAmount) return
  throw new AlliumError(
    'ledger.invalid',
    `A ledger reserves amounts from 0 to ${mostAmount}, but ${amount} was given. Check the prices and the usage.`,
  )
}

/**
 * Returns what is posted for an amount that was spent: one that is too large is cut, so that its reservation is settled all the same.
 *
 * @throws AlliumError `ledger.invalid` for a negative amount, or one that is not finite
 */
export function postedAmount(spent: number): number {
  const posted = Number.isFinite(spent) ? Math.min(spent, mostAmount) : spent
  checkAmount(posted)
  return posted
}
