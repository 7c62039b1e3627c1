import { z } from 'zod'

/** What the agents keep of a person for all conversations. The person sees, changes and deletes it on the page. */
export const profile = {
  schema: z.object({
    name: z.string().max(80).describe('How to address you').optional(),
    delivery: z.string().max(300).describe('Wishes for deliveries').optional(),
    contact: z.enum(['chat', 'email', 'phone']).describe('How to reach you').optional(),
  }),
}
