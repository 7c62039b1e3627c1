import type { Decision } from 'allium'
import type { Approver } from './approver/approver.ts'
import { type Conversation, conversations } from './conversations.ts'
import type { ChosenModel } from './models/chosen-model.ts'
import type { Screen } from './screen/screen.ts'
import { showBill } from './screen/show-bill.ts'
import { showOnion } from './screen/show-onion.ts'
import { showPending } from './screen/show-pending.ts'
import { showRun } from './screen/show-run.ts'
import { createSupportAgent, type SupportResult, type SupportRun, type SupportSession } from './support-agent.ts'

/** Runs each conversation in a session of its tenant, and prints its events. */
export async function runDemo(
  { model, why }: ChosenModel,
  approver: Approver,
  screen: Screen,
  signal: AbortSignal,
): Promise<void> {
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
      const results = await answer(session, question)
      if (turn < questions.length - 1) continue
      for (const { turnId } of results) {
        showOnion(onion, turnId, screen)
        screen.gap()
      }
      showBill((results.at(-1) as SupportResult).state, screen)
    }
    await session.close()
  }

  /** Runs one turn, and resumes it after each decision on its pending calls. */
  async function answer(session: SupportSession, question: string): Promise<SupportResult[]> {
    const results = [await show(session.run(question, { signal }))]
    while (results.at(-1)?.status === 'suspended')
      results.push(await show(session.resume(await decide(session), { signal })))
    return results
  }

  async function show(run: SupportRun): Promise<SupportResult> {
    await showRun(run, screen)
    screen.gap()
    return run
  }

  /** Decides immediately, in this process. A backend stores the session and resumes it when the decision arrives. */
  async function decide({ pending }: SupportSession): Promise<Record<string, Decision>> {
    const decisions: Record<string, Decision> = {}
    for (const call of pending) {
      showPending(call, screen)
      decisions[call.callId] = await approver(call, signal)
    }
    return decisions
  }
}
