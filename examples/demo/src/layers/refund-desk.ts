import { pendingCalls } from 'allium/context'
import { supportLayer } from '../principal.ts'
import { RefundArgs } from '../tools/refund.ts'

/**
 * Counts paid and denied refunds in the session's state, and gives the user a ticket number after a denied one.
 *
 * One layer with two hooks: the tool hook sees each refund, and the turn hook sees the finished answer.
 */
export function refundDesk() {
  return supportLayer({
    name: 'refund-desk',
    // An assignment passes through the reducer of its key, so concurrent refunds add up.
    state: {
      'refunds:paid': { default: 0, reducer: (total, amount: number) => total + amount },
      'refunds:denied': { default: 0, reducer: (count, more: number) => count + more },
      // Belongs to this turn, even while the turn waits for a decision.
      'refunds:ticket': { default: false, scope: 'turn' },
    },

    async turn(ctx, next) {
      await next()
      // If calls are pending, the answer is not complete yet.
      if (!ctx.state['refunds:ticket'] || pendingCalls(ctx).length > 0) return
      ctx.output = `${ctx.output} (If you have questions, mention the ticket ${ctx.sessionId}-${ctx.turnIndex + 1}.)`
    },

    async tool(ctx, next) {
      const result = await next()
      if (ctx.tool.name !== 'refund') return result
      if (result.status === 'ok') ctx.state['refunds:paid'] = RefundArgs.parse(ctx.args).amount
      if (result.status === 'denied') {
        ctx.state['refunds:denied'] = 1
        ctx.state['refunds:ticket'] = true
      }
      return result
    },
  })
}
