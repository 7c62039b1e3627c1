import type { Approval, Identity, ToolContext } from '@allium/core'
import { identityOf } from '@allium/core/internal'

/** A call that a handler approves or denies. */
export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly description: string
  readonly args: Record<string, unknown>
  readonly reason: string
}

/** A handler's decision, and optionally its approver. */
export type HandlerDecision = boolean | (Approval & { by?: Identity | undefined })

/** The approver of a call whose handler failed. */
export const unknownIdentity: Identity = Object.freeze({})

/** Returns the handler's decision; undefined if it did not decide. A handler that throws denies the call. */
export async function askHandler(
  handler: (request: ApprovalRequest, ctx: ToolContext) => HandlerDecision | Promise<HandlerDecision>,
  ctx: ToolContext,
  reason: string,
): Promise<Exclude<HandlerDecision, boolean> | undefined> {
  const { callId, tool, args } = ctx
  const { name, description } = tool
  const request = { callId, tool: name, description, args: structuredClone(args), reason }
  try {
    return decisionOf(await handler(request, ctx), name)
  } catch (error) {
    if (ctx.signal.aborted) throw error
    ctx.logger.error(`The approval of "${name}" failed, so the call is denied.`, { error })
    return { deny: `The tool "${name}" could not be approved.`, by: unknownIdentity }
  }
}

/**
 * Returns the handler's decision. A handler that returns undefined has not decided, as if it did not exist.
 * @throws TypeError for an invalid decision: `{ approve: false }` does not approve
 */
function decisionOf(result: unknown, tool: string): Exclude<HandlerDecision, boolean> | undefined {
  if (result === undefined) return undefined
  if (typeof result === 'boolean') return result ? { approve: true } : { deny: `A human denied "${tool}".` }
  const { approve: approved, deny, args, by: approver } = (result ?? {}) as Record<string, unknown>
  const by = approver === undefined ? {} : { by: identityOf(approver) }
  if (deny !== undefined || approved === false)
    return { deny: typeof deny === 'string' ? deny : `A human denied "${tool}".`, ...by }
  if (typeof args === 'object' && args !== null && !Array.isArray(args))
    return { args: args as Record<string, unknown>, ...by }
  if (approved === true && args === undefined) return { approve: true, ...by }
  throw new TypeError('The handler returned no decision. Return true, false, { approve: true }, { deny } or { args }.')
}
