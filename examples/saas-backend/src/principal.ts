import type { TypedMiddleware } from 'allium'
import { z } from 'zod'

/** What a tenant pays for: data, read at each request. */
export const Plan = z.object({
  name: z.string(),
  /** Such as `openai/gpt-5-mini`. */
  model: z.string(),
  /** What all people of the tenant may spend a day, in USD. */
  dailyUsd: z.number(),
  turnsAMinute: z.number().int(),
  /** The tools that its conversations have. */
  tools: z.array(z.string()),
  /** Refunds above it wait for a person, in USD. */
  refundsUpTo: z.number(),
  /** Refunds that people may approve themselves, in USD. Larger ones need an admin of the tenant. */
  ownApprovalUpTo: z.number(),
})

/** Who asks. It is made from the sign-in, never from what somebody wrote. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  tenant: z.string(),
  userId: z.string().min(1),
  name: z.string(),
  /** The tenants that they administer. */
  administers: z.array(z.string()),
  /** The tenants whose conversations they may read as an admin, each time with a reason. */
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
