import type { ModelContext } from '@allium/core'
import { isRecorded, isReplaying } from '@allium/core/context'
import type { Ledger, Reservation } from '@allium/store'
import { attemptOf, type LostHolds, listHolds } from './lost-holds.ts'

export type ReserveRequest = Parameters<Ledger['reserve']>[0]

/** The hold of a call. */
export interface Hold {
  /** Undefined if it is already posted or was refused. */
  readonly reservation: Reservation | undefined
  readonly isRefused: boolean
  /** Earlier attempts of the call whose process was lost; they are posted by their estimates. */
  readonly interrupted: readonly Reservation[]
}

/** Reserves what a call may spend. @param lost the holds of earlier processes, if the run was taken over */
export async function takeHold(
  ctx: ModelContext,
  { ledger, request, lost }: { ledger: Ledger; request: ReserveRequest; lost: LostHolds | undefined },
): Promise<Hold> {
  if (!isReplaying(ctx) || lost === undefined) {
    const reservation = await ledger.reserve(request)
    return { reservation, isRefused: reservation === undefined, interrupted: [] }
  }
  // A call of a run that was taken over takes a new hold unless it is recorded.
  const { recorded, cut: interrupted } = await lost.resolve(ctx, request.id)
  if (await isRecorded(ctx)) return { reservation: recorded, isRefused: false, interrupted }
  const last = Math.max(0, ...lost.of(request.id).map(({ id }) => attemptOf(id, request.id)))
  for (let attempt = last + 1; ; attempt++) {
    const id = attempt === 1 ? request.id : `${request.id}~${attempt}`
    const reservation = await ledger.reserve({ ...request, id })
    if (reservation === undefined) return { reservation, isRefused: true, interrupted }
    // A settled hold reserves nothing any more; it belonged to a call of another process.
    const holds = await listHolds(ledger, request.run as string)
    if (holds.some((hold) => hold.id === id)) return { reservation, isRefused: false, interrupted }
  }
}
