import { z } from 'zod'

/** The tool of W3, with the zod of this folder. */
export const weather = {
  name: 'weather',
  description: 'Tells the weather of a city',
  schema: z.object({ city: z.string() }),
  execute: ({ city }) => `12 degrees in ${city}`,
}
