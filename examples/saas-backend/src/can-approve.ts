import type { Principal } from './principal.ts'

interface Call {
  args: unknown
}
interface Context {
  /** The owner of the turn that made the call. */
  requestedBy: { userId?: unknown }
}

/** Users may approve their own refunds up to their plan's limit. Larger refunds, and those of others, need an admin of their company. */
export function canApprove(approver: Principal, { args }: Call, { requestedBy }: Context): boolean {
  const { tenantId, userId, administers, plan } = approver
  if (administers.includes(tenantId)) return true
  const { amount } = args as { amount?: unknown }
  return userId === requestedBy.userId && typeof amount === 'number' && amount <= plan.ownApprovalUpTo
}
