import { layer } from '../principal.ts'

/** Uses the model of the caller's plan. One agent serves all plans. */
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
