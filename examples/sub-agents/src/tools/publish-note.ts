import { defineTool, tenantOf } from 'allium'
import { z } from 'zod'

/** What was published, in the place of a website. */
export const published: { tenant: string | undefined; title: string; text: string }[] = []

export const publishNote = defineTool({
  name: 'publish_note',
  description: 'Publishes a note for all to read.',
  schema: z.object({ title: z.string(), text: z.string() }),
  requireApproval: true,
  execute(note, { principal }) {
    published.push({ tenant: tenantOf(principal), ...note })
    return `Published "${note.title}".`
  },
})
