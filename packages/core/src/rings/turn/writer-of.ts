import { heldLease, type Writer } from '../../ports/writer.ts'
import type { TurnContext } from './context.ts'

/** Returns the writer that a layer stores data for. Pass it to `KeyValue.set`, `Vault.save` and `Ledger.reserve`. */
export function writerOf(ctx: Pick<TurnContext, 'find' | 'sessionKey' | 'startedAt'>): Writer {
  const lease = ctx.find(heldLease)?.lease
  const { tenant, owner } = ctx.sessionKey
  return { tenant, owner, since: ctx.startedAt, ...(lease !== undefined && { lease }) }
}
