import { z } from 'zod'

/** A layer's name. */
export const as = z.string().min(1).optional()
/** Names of tools or roles. */
export const names = z.array(z.string().min(1))
/** Milliseconds. */
export const ms = z.number().positive()
export const count = z.int().min(1)

export const price = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cachedInput: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
})
/** By model. */
export const prices = z.record(z.string(), price)

/** What guards do when they fail. */
export const failure = {
  onError: z.enum(['block', 'allow']).optional(),
  timeout: ms.optional(),
  reply: z.string().optional(),
}
export const fraction = z.number().min(0).max(1)
export const text = z.string().min(1)
