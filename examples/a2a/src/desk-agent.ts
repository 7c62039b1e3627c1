import { Agent, defineTool, type ModelRef } from 'allium'
import { z } from 'zod'

const book = defineTool({
  name: 'book_room',
  description: 'Books a meeting room.',
  schema: z.object({ room: z.string(), hour: z.int() }),
  requireApproval: true,
  execute: ({ room, hour }) => `${room} is booked for ${hour}:00.`,
})

/** An agent that books rooms for other agents. Each booking needs approval. */
export function createDeskAgent(model: ModelRef) {
  return new Agent({ name: 'desk', model, tools: [book] })
}
