import { supportLayer } from '../principal.ts'

/** Tells the model for whom it works. One agent serves all tenants; this is what differs. */
export function tenantBrief() {
  return supportLayer({
    name: 'tenant-brief',
    async model(ctx, next) {
      const { tenant, plan } = ctx.principal
      const { channel, today } = ctx.context
      ctx.addSystemMessage(`You answer ${tenant} (${plan} plan) by ${channel}. Today is ${today}.`)
      return next()
    },
  })
}
