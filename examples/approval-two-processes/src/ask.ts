/** Process one: the agent calls a tool that needs approval. The suspended run is stored, and the process ends. */
import { scriptedModel } from 'allium/testing'
import { createRefundAgent, who } from './refund-agent.ts'
import { openStore } from './store.ts'

const model = scriptedModel([{ toolCalls: [{ name: 'refund', args: { orderId: 'A-1042', amount: 40 } }] }])
const store = openStore()
const session = createRefundAgent(model, store).session(who)

const { status } = await session.run('My field kettle arrived dented.')

console.log(`status   ${status}`)
for (const { name, args, token } of session.pending) {
  console.log(`pending  ${name} ${JSON.stringify(args)}`)
  console.log(`token    ${token}`) // for the link in the email to the approver
}
store.close()
