// Makes the bundler put what the entries share into one file.
import './index.ts'

// Functions that take the context of a layer, for what few layers need.
export { seal } from './approvals/seals.ts'
export type { PhysicalCall } from './contexts/model.ts'
export type { InnerRun, InputAbout, OnceOptions, OnInput, TurnPlan } from './contexts/turn.ts'
export { isRecorded, physicalCallsOf } from './model/scope/context.ts'
export { inject } from './ports/capability.ts'
export { aroundRun, aroundStep, isAnonymous, pendingCalls, provideTurns } from './session/scope/context.ts'
export type { DisplayText } from './stream/transforms.ts'
export { type ApprovalRequest, approvalRequestOf, approverOf, recipientsOf } from './tool/scope/context.ts'
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
