import { layer } from '../principal.ts'

/** What a plan says of the model: one agent serves all plans, and each call goes by that of who asks. */
export function tenantPlan() {
  return layer({
    name: 'tenant-plan',
    async model(ctx, next) {
      const { plan, tenant, name } = ctx.principal
      ctx.setModel(plan.model)
      ctx.addSystemMessage(`You answer ${name} of ${tenant}, who has the ${plan.name} plan.`)
      return next()
    },
  })
}
