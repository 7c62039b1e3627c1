import { type Principal, supportLayer } from '../principal.ts'
import { RefundArgs } from '../tools/refund.ts'

/**
 * Asks a person of refunds above the limit of the tenant's plan: the run ends as suspended, and is resumed with the answer.
 *
 * It stands right around the tool, below every layer that may change the arguments, so it judges what really runs.
 */
export function refundPolicy(limits: Record<Principal['plan'], number>) {
  return supportLayer({
    name: 'refund-policy',
    order: { is: ['authorizes'] },
    innermost: true,
    async tool(ctx, next) {
      if (ctx.tool.name !== 'refund') return next()
      const args = RefundArgs.safeParse(ctx.args)
      if (!args.success) return next() // the tool's own schema refuses them
      const { plan } = ctx.principal
      if (args.data.amount <= limits[plan] || ctx.approval !== undefined) return next() // a refusal takes effect here
      return ctx.suspend({
        reason: `Refunds over $${limits[plan]} need a person: the ${plan} plan allows no more at once.`,
      })
    },
  })
}
