import { z } from 'zod'

/** What a tenant of each plan may spend a day, in USD. */
export const dailyBudgets = { starter: 0.001, team: 0.0045, business: 0.1 }

/** Who asks. The server makes it from the key that came with the request, never from what was asked. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  userId: z.string().min(1),
  plan: z.enum(['starter', 'team', 'business']),
})
export type Principal = z.infer<typeof Principal>
