import { z } from 'zod'

/** The signed-in user. Sessions, budgets and limits belong to the tenant and the user. */
export const Principal = z.object({
  tenantId: z.string().min(1),
  userId: z.string().min(1),
  email: z.string(),
})
export type Principal = z.infer<typeof Principal>
