import type { TypedMiddleware } from 'allium'
import { z } from 'zod'

/** Who asks. A backend makes it from its login, never from what the user or the model wrote. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  tenant: z.string(),
  userId: z.string().min(1),
  plan: z.enum(['starter', 'business']),
})
export type Principal = z.infer<typeof Principal>

/** What the backend knows about this conversation. */
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
