import { AlliumError } from '@allium/core'

/** @throws AlliumError `ledger.invalid` where it is no money */
export function checkAmount(amount: number): void {
  if (!Number.isFinite(amount) || amount < 0)
    throw new AlliumError(
      'ledger.invalid',
      `A ledger takes amounts of 0 or more, but ${amount} was given. Check the prices and the usage.`,
    )
}
