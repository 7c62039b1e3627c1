import { Agent } from 'allium'
import { agentGroup, handoff } from 'allium/group'
import { scriptedModel } from 'allium/testing'

const toRefunds = { toolCalls: [{ name: 'handoff', args: { to: 'refunds' } }] }
const refunds = new Agent({ name: 'refunds', sessionGroup: 'desk', model: scriptedModel(['Refunded.', 'Bye.']) }).use(
  handoff({ to: [] }),
)
const triage = new Agent({ name: 'triage', sessionGroup: 'desk', model: scriptedModel([toRefunds]) }).use(
  handoff({ to: [{ agent: refunds as Agent, description: 'Refunds' }] }),
)

export default () => agentGroup([triage, refunds])
