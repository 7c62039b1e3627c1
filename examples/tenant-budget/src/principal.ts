import { z } from 'zod'

/** The daily budget of each plan, in USD. */
export const dailyBudgets = { starter: 0.001, team: 0.0045, business: 0.1 }

/** The caller. The server creates it from the API key of the request, never from its body. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  userId: z.string().min(1),
  plan: z.enum(['starter', 'team', 'business']),
})
export type Principal = z.infer<typeof Principal>
