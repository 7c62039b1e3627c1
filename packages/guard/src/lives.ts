import type { Ledger, Reservation } from '@allium/core'

type Asked = Parameters<Ledger['reserve']>[0]

/** What a call of a run holds that goes on after its process was lost, and what the lives before hold for the same call. */
export interface Lives {
  readonly own: Reservation
  readonly earlier: readonly Reservation[]
  /** Nothing was ever held for it. */
  readonly isFirst: boolean
}

/**
 * A hold of this life alone: whether the call is recorded is known behind it, and one that is made again is money of its own. It
 * asks for no room, since a call that was let through is not refused when it is replayed.
 */
export async function holdAgain(ledger: Ledger, asked: Asked): Promise<Lives> {
  const held = async () => (await ledger.holds?.(asked.run as string)) ?? []
  const earlier = (await held()).filter(({ id }) => numberOf(id, asked.id) > 0)
  earlier.sort((a, b) => numberOf(a.id, asked.id) - numberOf(b.id, asked.id))
  const last = earlier.at(-1)
  for (let n = last === undefined ? 1 : numberOf(last.id, asked.id) + 1; ; n++) {
    const id = n === 1 ? asked.id : `${asked.id}~${n}`
    const own = (await ledger.reserve({ ...asked, id, limit: Number.MAX_VALUE })) as Reservation
    // One that is settled holds nothing any more: it was money before.
    if ((await held()).some((one) => one.id === id)) return { own, earlier, isFirst: n === 1 }
  }
}

/**
 * Posts the calls of earlier lives: those that were cut by their estimates, before the one that stands, so that a kill in between
 * finds that one last.
 *
 * @param spent what the call that stands has used
 * @param isReplayed whether that was made by an earlier life, and recorded
 * @returns the calls that were cut
 */
export async function settleLives(
  ledger: Ledger,
  { own, earlier, isFirst }: Lives,
  spent: number,
  isReplayed: boolean,
): Promise<readonly Reservation[]> {
  const stands = isReplayed ? (earlier.at(-1) ?? (isFirst ? own : undefined)) : own
  const cut = earlier.filter((one) => one !== stands)
  for (const one of cut) await ledger.settle(one, one.amount)
  if (stands !== own) await ledger.settle(own, 0)
  if (stands !== undefined) await ledger.settle(stands, spent)
  return cut
}

/** Which hold for a call it is, from 1 on; 0 for one of another call. */
function numberOf(id: string, call: string): number {
  if (id === call) return 1
  return id.startsWith(`${call}~`) ? Number(id.slice(call.length + 1)) : 0
}
