import { layer } from '../principal.ts'

/** Offers only the plan's tools to the model, and denies calls to other tools. */
export function planTools() {
  return layer({
    name: 'plan-tools',
    order: { is: ['authorizes'] },
    innermost: true,
    async model(ctx, next) {
      const { plan } = ctx.principal
      const beyond = ctx.toolDefs.map(({ name }) => name).filter((name) => !plan.tools.includes(name))
      if (beyond.length > 0) ctx.removeTools(...beyond)
      return next()
    },
    async tool(ctx, next) {
      const { plan } = ctx.principal
      if (plan.tools.includes(ctx.tool.name)) return next()
      return ctx.deny(`The ${plan.name} plan does not include ${ctx.tool.name}.`)
    },
  })
}
