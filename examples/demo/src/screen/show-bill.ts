import { dailyBudget, type SupportResult } from '../support-agent.ts'
import type { Screen } from './screen.ts'

type State = SupportResult['state']

/** Prints usage, cost and the session's state. The layers declare the keys and their types. */
export function showBill(state: State, screen: Screen): void {
  const { calls, inputTokens, outputTokens } = state['observe:usage:tokens']
  screen.line(
    'usage',
    `${calls} model ${calls === 1 ? 'call' : 'calls'}, ${count(inputTokens)} tokens in, ${count(outputTokens)} out`,
  )
  screen.line('cost', costOf(state))
  screen.line('budget', `${usd(state['guard:budget:spent'])} of the tenant's ${usd(dailyBudget)} a day`)
  screen.line('state', `refunds:paid = ${state['refunds:paid']}, refunds:denied = ${state['refunds:denied']}`)
}

function costOf(state: State): string {
  const unpriced = state['observe:usage:unpriced']
  const known = `${usd(state['observe:usage:cost'])}, by the public price list`
  return unpriced === 0 ? known : `${known}; ${unpriced} calls have no price there`
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US')
}

function usd(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 5 : 2)}`
}
