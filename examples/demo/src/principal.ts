import type { TypedMiddleware } from 'allium'
import { z } from 'zod'

/** The signed-in user. A backend creates it from its sign-in, never from text of the user or the model. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  tenant: z.string(),
  userId: z.string().min(1),
  plan: z.enum(['starter', 'business']),
})
export type Principal = z.infer<typeof Principal>

/** Facts about this conversation from the backend. */
export const Context = z.object({
  channel: z.enum(['chat', 'email']),
  today: z.iso.date(),
})
export type Context = z.infer<typeof Context>

/** `defineMiddleware` for this agent: `ctx.principal` and `ctx.context` have the types above. */
export function supportLayer<State = {}>(
  layer: TypedMiddleware<State, undefined, Context, Principal>,
): TypedMiddleware<State, undefined, Context, Principal> {
  return layer
}
