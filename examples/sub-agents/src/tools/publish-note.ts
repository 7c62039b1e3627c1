import { defineTool, tenantOf } from 'allium'
import { z } from 'zod'

/** The published notes. A real tool would write to a website. */
export const published: { tenant: string | undefined; title: string; text: string }[] = []

export const publishNote = defineTool({
  name: 'publish_note',
  description: 'Publishes a note.',
  schema: z.object({ title: z.string(), text: z.string() }),
  requireApproval: true,
  execute(note, { principal }) {
    published.push({ tenant: tenantOf(principal), ...note })
    return `Published "${note.title}".`
  },
})
