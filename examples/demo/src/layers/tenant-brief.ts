import { supportLayer } from '../principal.ts'

/** Adds the tenant and the channel to the instructions. One agent serves all tenants. */
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
