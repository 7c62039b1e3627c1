import { type Conversation, conversations } from './conversations.ts'
import type { ChosenModel } from './models/chosen-model.ts'
import type { Screen } from './screen/screen.ts'
import { showBill } from './screen/show-bill.ts'
import { showOnion } from './screen/show-onion.ts'
import { showRun } from './screen/show-run.ts'
import { createSupportAgent } from './support-agent.ts'

/** Runs every conversation, each in a session of its tenant, and shows what happens. */
export async function runDemo({ model, why }: ChosenModel, screen: Screen, signal: AbortSignal): Promise<void> {
  screen.heading('Allium: one support agent, two tenants')
  screen.line('model', model.id, 'bold')
  screen.line('why', why)

  const { agent, onion } = createSupportAgent(model)
  try {
    for (const conversation of conversations) await converse(conversation)
  } finally {
    await agent.dispose()
  }

  async function converse({ principal, context, questions }: Conversation): Promise<void> {
    screen.heading(`${principal.tenant}, ${principal.plan} plan`)
    const session = agent.session({ id: `${principal.tenantId}-1`, principal, context })
    for (const [turn, question] of questions.entries()) {
      screen.line(principal.userId, question, 'cyan')
      const run = session.run(question, { signal })
      await showRun(run, screen)
      screen.gap()
      const result = await run
      if (turn < questions.length - 1) continue
      showOnion(onion, result.turnId, screen)
      screen.gap()
      showBill(result.state, screen)
    }
    await session.close()
  }
}
