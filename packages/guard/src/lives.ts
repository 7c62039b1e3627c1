import type { Ledger, Reservation } from '@allium/core'

type Asked = Parameters<Ledger['reserve']>[0]

/** What a call holds whose run goes on after its process was lost. */
export interface Resumed {
  /** Undefined where it is posted already, or was refused. */
  readonly reservation: Reservation | undefined
  readonly isRefused: boolean
  /** The calls in its place that a kill has cut: they are posted by their estimates. */
  readonly cut: readonly Reservation[]
}

/**
 * The hold of a call of a run that goes on. What is recorded was made by the last life that holds for it; what is not is made anew, and
 * is money of its own beside what the lives before have begun.
 */
export async function resumedHold(ledger: Ledger, asked: Asked, isRecorded: boolean): Promise<Resumed> {
  const held = async () => (await ledger.holds?.(asked.run as string)) ?? []
  const earlier = (await held()).filter(({ id }) => numberOf(id, asked.id) > 0)
  earlier.sort((a, b) => numberOf(a.id, asked.id) - numberOf(b.id, asked.id))
  const last = earlier.at(-1)
  const cut = isRecorded ? earlier.slice(0, -1) : earlier
  for (const one of cut) await ledger.settle(one, one.amount)
  if (isRecorded) return { reservation: last, isRefused: false, cut }
  for (let n = last === undefined ? 1 : numberOf(last.id, asked.id) + 1; ; n++) {
    const id = n === 1 ? asked.id : `${asked.id}~${n}`
    const reservation = await ledger.reserve({ ...asked, id })
    if (reservation === undefined) return { reservation, isRefused: true, cut }
    // One that was settled holds nothing any more: it was a call of another life.
    if ((await held()).some((one) => one.id === id)) return { reservation, isRefused: false, cut }
  }
}

/** Which hold for a call it is, from 1 on; 0 for one of another call. */
function numberOf(id: string, call: string): number {
  if (id === call) return 1
  return id.startsWith(`${call}~`) ? Number(id.slice(call.length + 1)) : 0
}
