// Compiled, never run: an application says once who acts, and in which context, and everything knows it.
import { z } from 'zod'
import { Agent, defineMiddleware, defineTool, type ToolContext } from '../../src/index.ts'

interface Principal {
  tenantId: string
  userId: string
  roles: string[]
}
declare module '../../src/index.ts' {
  interface Register {
    principal: Principal
    context: { db: { find(id: string): string } }
  }
}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles only where the two types are the same. */
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [error: 'the types differ', A, B]): void

// Layers, tools and callbacks that stand alone.
const layer = defineMiddleware({
  name: 'roles',
  async tool(ctx, next) {
    same<Principal, typeof ctx.principal>()
    if (!ctx.principal.roles.includes('lead')) return ctx.deny(ctx.context.db.find('no'))
    // @ts-expect-error: nobody has a role by this name
    void ctx.principal.role
    return next()
  },
})
const find = defineTool({
  name: 'find',
  description: 'Finds',
  schema: z.object({ id: z.string() }),
  execute: ({ id }, ctx) => `${ctx.context.db.find(id)} for ${ctx.principal.userId}`,
})
const why = (ctx: ToolContext) => ctx.principal.tenantId

// The agent, its sessions, and who decides.
const agent = new Agent({
  model: 'anthropic/claude-sonnet-4-6',
  tools: [find],
  instructions: (ctx) => `You help ${ctx.principal.userId}.`,
  approvals: { canApprove: ({ roles }) => roles.includes('lead') },
})
  .use(layer)
  .use('turn', (ctx, next) => {
    same<Principal, typeof ctx.principal>()
    return next()
  })
const principal: Principal = { tenantId: 'acme', userId: 'ann', roles: [] }
const session = agent.session({ principal, context: { db: { find: (id) => id } } })
void session.pendingFor(principal)
void session.resume({}, { approver: principal })
// @ts-expect-error: a principal has roles
agent.session({ principal: { tenantId: 'acme', userId: 'ann' } })
// @ts-expect-error: an approver is a principal
void session.resume({}, { approver: 'ann' })
void why

// A schema says it nearer.
new Agent({ model: 'anthropic/claude-sonnet-4-6', principal: z.object({ team: z.string() }) }).use(
  'turn',
  (ctx, next) => {
    same<{ team: string }, typeof ctx.principal>()
    return next()
  },
)
