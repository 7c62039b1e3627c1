import type { ModelRef } from 'allium'
import { scriptedModel } from 'allium/testing'
import { createPaymentsAgent, type Trail } from './payments-agent.ts'

const pay = (invoice: string, amount: number) => ({ toolCalls: [{ name: 'pay_invoice', args: { invoice, amount } }] })

/** A scripted model: an allowed payment, a payment that the policy denies, and an answer that never ends. */
const played = () =>
  scriptedModel([
    pay('INV-7', 120),
    'INV-7 is paid.',
    pay('INV-8', 9_000),
    'I may not pay that much. Two people must sign.',
    { text: 'This year we paid', stall: true },
  ])

const questions = ['Pay INV-7, $120.', 'Pay INV-8, $9,000.', 'Tell me about all payments of this year.']

/** Runs three turns of one user, and aborts the last one in mid-answer. Returns the head of the trail. */
export async function threeTurns(trail: Trail, model: ModelRef = played()) {
  const { agent, audit, onion, close } = createPaymentsAgent(model, trail)
  const session = agent.session({ id: 'chat-1', principal: { tenantId: 'acme', userId: 'dana' } })
  const ends: { status: string; turnId: string }[] = []
  agent.on('turn:end', ({ status, turnId }) => ends.push({ status, turnId }))
  for (const question of questions) {
    const run = session.run(question)
    for await (const event of run) {
      if (event.type !== 'text-delta' || question !== questions.at(-1)) continue
      run.abort('the user closed the page')
      break
    }
    await run.settled()
  }
  const asked = questions.map((question, i) => ({ question, ...ends[i] }))
  const explained = ends.map(({ turnId }) => onion.explain(turnId))
  await close()
  return { asked, explained, head: audit.head() }
}
