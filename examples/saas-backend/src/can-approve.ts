import type { Principal } from './principal.ts'

interface Call {
  args: unknown
}
interface Context {
  /** Who ran the turn that made the call. */
  requestedBy: { userId?: unknown }
}

/** People approve their own refunds up to the limit of their plan. Larger ones, and those of others, need an admin of their company. */
export function canApprove(approver: Principal, { args }: Call, { requestedBy }: Context): boolean {
  const { tenantId, userId, administers, plan } = approver
  if (administers.includes(tenantId)) return true
  const { amount } = args as { amount?: unknown }
  return userId === requestedBy.userId && typeof amount === 'number' && amount <= plan.ownApprovalUpTo
}
