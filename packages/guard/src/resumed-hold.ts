import type { Ledger, Reservation } from '@allium/core'

type ReserveRequest = Parameters<Ledger['reserve']>[0]

/** What a call holds whose run goes on after its process was lost. */
export interface ResumedHold {
  /** Undefined where it is posted already, or was refused. */
  readonly reservation: Reservation | undefined
  readonly isRefused: boolean
  /** The calls in its place that a kill has cut: they are posted by their estimates. */
  readonly interrupted: readonly Reservation[]
}

/**
 * The hold of a call of a run that goes on. What is recorded was made by the last life that holds for it; what is not is made anew, and
 * is money of its own beside what the lives before have begun.
 */
export async function resumeHold(ledger: Ledger, request: ReserveRequest, isRecorded: boolean): Promise<ResumedHold> {
  const listHolds = async () => (await ledger.holds?.(request.run as string)) ?? []
  const earlierHolds = (await listHolds()).filter(({ id }) => attemptOf(id, request.id) > 0)
  earlierHolds.sort((a, b) => attemptOf(a.id, request.id) - attemptOf(b.id, request.id))
  const lastHold = earlierHolds.at(-1)
  const interrupted = isRecorded ? earlierHolds.slice(0, -1) : earlierHolds
  for (const hold of interrupted) await ledger.settle(hold, hold.amount)
  if (isRecorded) return { reservation: lastHold, isRefused: false, interrupted }
  for (let attempt = lastHold === undefined ? 1 : attemptOf(lastHold.id, request.id) + 1; ; attempt++) {
    const id = attempt === 1 ? request.id : `${request.id}~${attempt}`
    const reservation = await ledger.reserve({ ...request, id })
    if (reservation === undefined) return { reservation, isRefused: true, interrupted }
    // One that was settled holds nothing any more: it was a call of another life.
    if ((await listHolds()).some((hold) => hold.id === id)) return { reservation, isRefused: false, interrupted }
  }
}

/** Which hold for a call it is, from 1 on; 0 for one of another call. */
function attemptOf(id: string, call: string): number {
  if (id === call) return 1
  return id.startsWith(`${call}~`) ? Number(id.slice(call.length + 1)) : 0
}
