import type { Decision } from 'allium'
import { describeCall } from './describe-call.ts'
import { element } from './dom.ts'
import type { Question } from './history.ts'

/** Sends decisions. Calls `accepted` when the run continues with them. */
type Decide = (decisions: Record<string, Decision>, accepted: () => void) => Promise<unknown>

/** Creates a card that asks the user about a pending call. `close` replaces its buttons with a note. */
export function approvalCard({ callId, name, args, token }: Question, decide: Decide) {
  const card = element('div', 'tool', `${describeCall(name, args)}?`)
  const buttons = element('fieldset', 'buttons')
  const close = (note: string) => buttons.replaceWith(element('p', 'note', note))
  card.append(buttons)
  button('Approve', 'Approved', { approve: true })
  button('Deny', 'Denied', { deny: 'The user denied the call.' })
  return { card, close }

  function button(label: string, done: string, decision: Decision): void {
    const made = element('button', '', label)
    made.onclick = async () => {
      buttons.toggleAttribute('disabled', true)
      await decide({ [callId]: { ...decision, ...(token !== undefined && { token }) } }, () => close(done))
      // The user can decide again after a failure.
      buttons.toggleAttribute('disabled', false)
    }
    buttons.append(made)
  }
}
