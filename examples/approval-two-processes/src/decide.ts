/** Process two: `decide.ts approve|deny|edit <token>`. It loads the suspended run and resumes it with the decision. */
import { type Approval, isAlliumError } from 'allium'
import { scriptedModel } from 'allium/testing'
import { createRefundAgent, who } from './refund-agent.ts'
import { openStore } from './store.ts'

const approvals: Record<string, Approval> = {
  approve: { approve: true },
  deny: { deny: 'The kettle was fine when it left us.' },
  edit: { args: { orderId: 'A-1042', amount: 20 } },
}

// A real model would read the result of the call; this one is scripted.
const model = scriptedModel([
  ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('Refunded') ? 'Your money is on its way.' : 'I am sorry: no refund.',
])

const store = openStore()
const [choice = '', token = ''] = process.argv.slice(2)
const approval = approvals[choice]
try {
  if (approval === undefined) throw new Error('Usage: decide.ts approve|deny|edit <token>')
  const session = createRefundAgent(model, store).session(who)
  await session.open()
  const [call] = session.pending
  if (call === undefined) throw new Error('No pending calls.')
  const { status, text } = await session.resume({ [call.callId]: { ...approval, token } })
  console.log(`status   ${status}`)
  console.log(`answer   ${text}`)
} catch (error) {
  process.exitCode = 1
  console.log(isAlliumError(error) ? `refused  ${error.code}: ${error.message}` : String(error))
} finally {
  store.close()
}
