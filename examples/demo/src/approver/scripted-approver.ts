import type { Screen } from '../screen/screen.ts'
import { RefundArgs } from '../tools/refund.ts'
import type { Approver } from './approver.ts'

/** Plays the person where nobody sits at a terminal: approves what is worth no second look. */
export function scriptedApprover(screen: Screen): Approver {
  return async ({ args }) => {
    const small = RefundArgs.parse(args).amount <= 100
    screen.line(
      'person',
      `${small ? 'yes' : 'no, send the goods back first'} (scripted: stdin is no terminal)`,
      'yellow',
    )
    return small ? { approve: true } : { deny: 'A person says no: send the goods back first.' }
  }
}
