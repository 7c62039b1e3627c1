import type { TypedMiddleware } from 'allium'
import { z } from 'zod'

/** The plan of a tenant. It is read with each request. */
export const Plan = z.object({
  name: z.string(),
  /** Such as `openai/gpt-5-mini`. */
  model: z.string(),
  /** The daily budget of the whole tenant, in USD. */
  dailyUsd: z.number(),
  turnsAMinute: z.number().int(),
  /** The tools of its conversations. */
  tools: z.array(z.string()),
  /** Larger refunds need approval, in USD. */
  refundsUpTo: z.number(),
  /** Users may approve their own refunds up to this amount, in USD. Larger ones need an admin of the tenant. */
  ownApprovalUpTo: z.number(),
})

/** The signed-in user. It is created from the sign-in, never from text of a user. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  tenant: z.string(),
  userId: z.string().min(1),
  name: z.string(),
  /** The tenants that they administer. */
  administers: z.array(z.string()),
  /** The tenants whose conversations they may read as an admin, after entering a reason. */
  reads: z.array(z.string()).default([]),
  plan: Plan,
})
export type Principal = z.infer<typeof Principal>

/** `defineMiddleware` for this agent: `ctx.principal` has the type above. */
export function layer<State = {}>(
  made: TypedMiddleware<State, undefined, unknown, Principal>,
): TypedMiddleware<State, undefined, unknown, Principal> {
  return made
}
