import type { ModelContext } from '@allium/core'
import type { Ledger, Reservation } from '@allium/store'

export type ReserveRequest = Parameters<Ledger['reserve']>[0]

/** The hold of a call. */
export interface Hold {
  /** Undefined if it is already posted or was refused. */
  readonly reservation: Reservation | undefined
  readonly isRefused: boolean
  /** Earlier attempts of the call whose process was lost; they are posted by their estimates. */
  readonly interrupted: readonly Reservation[]
}

/** Reserves what a call may spend. */
export async function takeHold(ctx: ModelContext, ledger: Ledger, request: ReserveRequest): Promise<Hold> {
  if (ctx.replaying && request.run !== undefined) return resumeHold(ledger, request, await ctx.isRecorded())
  const reservation = await ledger.reserve(request)
  return { reservation, isRefused: reservation === undefined, interrupted: [] }
}

/**
 * Returns the hold of a call in a resumed run. A recorded call used the latest hold. Any other call takes a new hold, in
 * addition to the money that earlier processes may have spent.
 */
async function resumeHold(ledger: Ledger, request: ReserveRequest, isRecorded: boolean): Promise<Hold> {
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
    // A settled hold reserves nothing any more; it belonged to a call of another process.
    if ((await listHolds()).some((hold) => hold.id === id)) return { reservation, isRefused: false, interrupted }
  }
}

/** Returns which hold of a call it is, from 1; 0 for a hold of another call. */
function attemptOf(id: string, call: string): number {
  if (id === call) return 1
  return id.startsWith(`${call}~`) ? Number(id.slice(call.length + 1)) : 0
}
