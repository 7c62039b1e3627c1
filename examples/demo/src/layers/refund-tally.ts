import { supportLayer } from '../principal.ts'
import { RefundArgs } from '../tools/refund.ts'

/**
 * Keeps in the session's state what was paid back and how often a refund was denied.
 *
 * What is assigned goes through the reducer of its key, so refunds that run at once add up.
 */
export function refundTally() {
  return supportLayer({
    name: 'refund-tally',
    state: {
      'refunds:paid': { default: 0, reducer: (total, amount: number) => total + amount },
      'refunds:denied': { default: 0, reducer: (count, more: number) => count + more },
    },
    async tool(ctx, next) {
      const result = await next()
      if (ctx.tool.name !== 'refund') return result
      if (result.status === 'ok') ctx.state['refunds:paid'] = RefundArgs.parse(ctx.args).amount
      if (result.status === 'denied') ctx.state['refunds:denied'] = 1
      return result
    },
  })
}
