import type { Decision } from 'allium'
import { describeCall } from './describe-call.ts'
import { element } from './dom.ts'

export interface Question {
  callId: string
  /** The tool, and its arguments. */
  name: string
  args: unknown
  /** Proves that the server asked. */
  token?: string | undefined
}

/** Creates a card that asks the user about a pending call. */
export function approvalCard(
  { callId, name, args, token }: Question,
  decide: (decisions: Record<string, Decision>) => void,
) {
  const card = element('div', 'tool', `${describeCall(name, args)}?`)
  const buttons = element('p', 'buttons')
  card.append(buttons)
  button('Approve', 'Approved', { approve: true })
  button('Deny', 'Denied', { deny: 'The user denied the call.' })
  return card

  function button(label: string, done: string, decision: Decision): void {
    const made = element('button', '', label)
    made.onclick = () => {
      buttons.replaceWith(element('p', 'note', done))
      decide({ [callId]: { ...decision, ...(token !== undefined && { token }) } })
    }
    buttons.append(made)
  }
}
