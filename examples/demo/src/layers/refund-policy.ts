import { type Principal, supportLayer } from '../principal.ts'
import { RefundArgs } from '../tools/refund.ts'

/**
 * Requires approval for refunds above the limit of the tenant's plan. The run is suspended, and resumes with the decision.
 *
 * It is the innermost layer, inside every layer that may change the arguments, so it checks the arguments that the tool receives.
 */
export function refundPolicy(limits: Record<Principal['plan'], number>) {
  return supportLayer({
    name: 'refund-policy',
    order: { is: ['authorizes'] },
    innermost: true,
    async tool(ctx, next) {
      if (ctx.tool.name !== 'refund') return next()
      const args = RefundArgs.safeParse(ctx.args)
      if (!args.success) return next() // the tool's schema rejects them
      const { plan } = ctx.principal
      if (args.data.amount <= limits[plan] || ctx.approval !== undefined) return next() // a denial takes effect in `next()`
      return ctx.suspend({
        reason: `Refunds over $${limits[plan]} need approval on the ${plan} plan.`,
      })
    },
  })
}
