import { dailyBudget, type SupportResult } from '../support-agent.ts'
import type { Screen } from './screen.ts'

type State = SupportResult['state']

/** Usage, cost and the rest of the session's state. Every key is typed: the layers declare them. */
export function showBill(state: State, screen: Screen): void {
  const { calls, inputTokens, outputTokens } = state['observe:usage:tokens']
  screen.line('usage', `${calls} model calls, ${count(inputTokens)} tokens in, ${count(outputTokens)} out`)
  screen.line('cost', costOf(state))
  screen.line(
    'budget',
    `${usd(state['guard:budget:spent'])} taken of the ${usd(dailyBudget)} that the tenant has a day`,
  )
  screen.line('state', `refunds:paid = ${state['refunds:paid']}, refunds:denied = ${state['refunds:denied']}`)
}

function costOf(state: State): string {
  const unpriced = state['observe:usage:unpriced']
  const known = `${usd(state['observe:usage:cost'])}, by the public list of prices`
  return unpriced === 0 ? known : `${known}; it knows none for ${unpriced} of the calls`
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US')
}

function usd(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 5 : 2)}`
}
