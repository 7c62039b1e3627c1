import { isThenable } from '@allium/core/internal'
import type { Ledger, Reservation } from '@allium/store'
import type { AskedLedger } from './postings.ts'

/** The most reservations that are remembered until they settle. */
const most = 10_000

/** Returns a ledger that is the same as another one, and tells the recorded turn that asks what it answered. */
export function watchLedger(ledger: Ledger, turnOf: (run: string) => AskedLedger | undefined): Ledger {
  const held = new Map<string, AskedLedger>()
  const { settleSoon, holds, close } = ledger
  const settles = (reservation: Reservation, spent: number) => {
    const key = keyOf(reservation)
    held.get(key)?.settled(reservation, spent)
    held.delete(key)
  }
  return {
    reserve(request) {
      const { run = request.asker } = request
      const turn = run === undefined ? undefined : turnOf(run)
      const answer = ledger.reserve(request)
      if (turn === undefined) return answer
      const told = (reservation: Reservation | undefined) => {
        turn.reserved(request, reservation, ledger)
        // A slot of a rate has an asker. It is not settled, so it must not keep the turn.
        if (reservation !== undefined && request.run !== undefined) {
          held.set(keyOf(reservation), turn)
          if (held.size > most) held.delete(held.keys().next().value as string)
        }
        return reservation
      }
      return isThenable(answer) ? (answer as Promise<Reservation | undefined>).then(told) : told(answer)
    },
    settle(reservation, spent) {
      settles(reservation, spent)
      return ledger.settle(reservation, spent)
    },
    balance: (account) => ledger.balance(account),
    ...(settleSoon !== undefined && {
      settleSoon(reservation, spent) {
        settles(reservation, spent)
        return settleSoon.call(ledger, reservation, spent)
      },
    }),
    ...(holds !== undefined && { holds: (run) => holds.call(ledger, run) }),
    ...(close !== undefined && { close: (account) => close.call(ledger, account) }),
  } satisfies Ledger
}

function keyOf({ id, account }: Reservation): string {
  return `${account}\n${id}`
}
