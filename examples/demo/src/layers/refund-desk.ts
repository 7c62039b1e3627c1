import { supportLayer } from '../principal.ts'
import { RefundArgs } from '../tools/refund.ts'

/**
 * Keeps in the session's state what was paid back and what was denied, and gives the user of a denied one a ticket.
 *
 * Two rings of the onion, one layer: its tool hook sees each refund, its turn hook the finished answer.
 */
export function refundDesk() {
  return supportLayer({
    name: 'refund-desk',
    // What is assigned goes through the reducer of its key, so refunds that run at once add up.
    state: {
      'refunds:paid': { default: 0, reducer: (total, amount: number) => total + amount },
      'refunds:denied': { default: 0, reducer: (count, more: number) => count + more },
      // Of this turn, also over the time that it waits for a person.
      'refunds:ticket': { default: false, scope: 'turn' },
    },

    async turn(ctx, next) {
      await next()
      // Where calls wait for a person, the answer is still to come.
      if (!ctx.state['refunds:ticket'] || ctx.pending.length > 0) return
      ctx.output = `${ctx.output} (To speak about it, name the ticket ${ctx.sessionId}-${ctx.turnIndex + 1}.)`
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
