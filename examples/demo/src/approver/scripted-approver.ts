import type { Screen } from '../screen/screen.ts'
import { RefundArgs } from '../tools/refund.ts'
import type { Approver } from './approver.ts'

/** Replaces the person if the process has no terminal. Approves refunds of up to $100. */
export function scriptedApprover(screen: Screen): Approver {
  return async ({ args }) => {
    const small = RefundArgs.parse(args).amount <= 100
    screen.line(
      'person',
      `${small ? 'yes' : 'no, send the goods back first'} (scripted, because stdin is not a terminal)`,
      'yellow',
    )
    return small ? { approve: true } : { deny: 'The approver says no: send the goods back first.' }
  }
}
