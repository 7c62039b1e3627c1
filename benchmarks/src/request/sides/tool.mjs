import { z } from 'zod'

const schema = z.object({ city: z.string() })

/** The tool of W3. */
export const weather = {
  name: 'weather',
  description: 'Tells the weather of a city',
  schema,
  execute: ({ city }) => `12 degrees in ${city}`,
}
