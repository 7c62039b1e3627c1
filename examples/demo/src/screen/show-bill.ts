import { dailyBudget, type SupportResult } from '../support-agent.ts'
import type { Screen } from './screen.ts'

/** Usage, cost and the rest of the session's state. Every key is typed: the layers declare them. */
export function showBill({ state }: Pick<SupportResult, 'state'>, screen: Screen): void {
  const tokens = state['observe:usage:tokens']
  screen.line(
    'usage',
    `${tokens.calls} model calls, ${count(tokens.inputTokens)} tokens in, ${count(tokens.outputTokens)} out`,
  )
  screen.line('cost', `${usd(state['observe:usage:cost'])} of the ${usd(dailyBudget)} that this tenant has a day`)
  screen.line('state', `refunds:paid = ${state['refunds:paid']}, refunds:denied = ${state['refunds:denied']}`)
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US')
}

function usd(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 5 : 2)}`
}
