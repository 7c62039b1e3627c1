// What an agent loads when a call waits for a decision, or a run has client tools or structured output. One file, because each costs a millisecond.
import './index.ts'

export { decidable } from './approvals/approvers.ts'
export { decidedCalls } from './approvals/decided-calls.ts'
export { checkedDecisions, useDecisions } from './approvals/decisions.ts'
export { approvalSeal, refuseForged } from './approvals/provider-approvals.ts'
export { suspend } from './approvals/suspend.ts'
export { outputPlan } from './output/plan.ts'
export { clientTool, partlyChecked } from './tool/client-tool.ts'
