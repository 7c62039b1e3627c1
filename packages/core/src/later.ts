// What an agent loads when it is first needed: for a call that waits for a decision, structured output, a journal, a message to a
// running turn, an earlier turn. One file, because each costs a millisecond.
import './index.ts'

export { decidable } from './approvals/approvers.ts'
export { decidedCalls } from './approvals/decided-calls.ts'
export { checkedDecisions, useDecisions } from './approvals/decisions.ts'
export { approvalSeal, refuseForged } from './approvals/provider-approvals.ts'
export { suspend } from './approvals/suspend.ts'
export { outputPlan } from './output/plan.ts'
export { contentDigestOf } from './ports/content-digest.ts'
export { digestOf } from './ports/seal.ts'
export { rewind, snapshotAt } from './session/rewind.ts'
export { Steering } from './turn/steering.ts'
export { Steps } from './turn/steps.ts'
