// Makes the bundler put what the entries share into one file.
import './index.ts'
import { layerOf } from './agent/scope/context.ts'
import type { ToolContext } from './contexts/tool.ts'
import { sealOf } from './ports/seal.ts'
import { tenantOf } from './ports/tenant.ts'
import { ToolAttempt } from './tool/scope/context.ts'

// Functions that take the context of a layer, for what few layers need.
export type { PhysicalCall } from './contexts/model.ts'
export type { InnerRun, InputAbout, OnceOptions, OnInput, TurnPlan } from './contexts/turn.ts'
export { isRecorded, physicalCallsOf } from './model/scope/context.ts'
export { inject } from './ports/capability.ts'
export { aroundRun, aroundStep, isAnonymous, pendingCalls, provideTurns } from './session/scope/context.ts'
export type { DisplayText } from './stream/transforms.ts'
export { type ApprovalRequest, approvalRequestOf, approverOf, callerOf, recipientsOf } from './tool/scope/context.ts'
export {
  isInherited,
  isReplaying,
  isResumed,
  onDisplay,
  record,
  resolveModel,
  rootTurnIdOf,
  setMaxSteps,
} from './turn/context.ts'

/**
 * Returns a seal over a JSON-like value, for data that a layer stores in the state and trusts later, such as a
 * remembered approval. The seal is valid for this tenant and owner. It is signed with the agent's `approvals.secret`.
 * Without a secret it is a digest, which detects a change but not a forgery.
 */
export function seal(ctx: ToolContext<unknown, unknown, unknown, unknown, unknown>, value: unknown): Promise<string> {
  const { agent, owner, principal } = layerOf('seal()', ctx, ToolAttempt).$owner
  return sealOf(['layer', tenantOf(principal) ?? null, owner ?? null, value], agent.setup.approvals.secret)
}
