import { supportLayer } from '../principal.ts'
import { RefundArgs } from '../tools/refund.ts'

/**
 * Keeps in the session's state what was paid back and what was denied, and hands a denied refund to a person.
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
    },

    async turn(ctx, next) {
      const before = ctx.state['refunds:denied']
      await next()
      if (ctx.state['refunds:denied'] === before) return
      ctx.output = `${ctx.output} (Handed over to a person: ticket ${ctx.sessionId}-${ctx.turnIndex + 1}.)`
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
