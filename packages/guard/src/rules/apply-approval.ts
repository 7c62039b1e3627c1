import type { Approval, ToolContext, ToolResult } from '@allium/core'

/** Applies an approver's decision. Returns the result of a denied call; undefined if the call may run. */
export function applyApproval(ctx: ToolContext, approval: Approval): ToolResult | undefined {
  if ('deny' in approval) return ctx.deny(approval.deny)
  if ('args' in approval) ctx.modifyArgs(() => approval.args)
  return undefined
}
