import { setTimeout as wait } from 'node:timers/promises'
import { defineTool, type Model } from 'allium'
import { scriptedModel } from 'allium/testing'

const answer = 'The train leaves at nine, and the room is yours from three o’clock on. Have a good journey!'

/** A slow scripted model. It calls two tools, then answers. */
export function slowModel(): Model {
  const script = scriptedModel(
    Array.from(
      { length: 3 },
      () =>
        ({ messages }) =>
          messages.some(({ role }) => role === 'tool')
            ? answer
            : {
                toolCalls: [
                  { name: 'book', callId: 'train', args: { what: 'train' } },
                  { name: 'book', callId: 'room', args: { what: 'room' } },
                ],
              },
    ),
  )
  return {
    id: script.id,
    async *stream(request) {
      for await (const chunk of script.stream(request)) {
        await wait(40)
        yield chunk
      }
    },
  }
}

export function book(booked: (what: string) => void) {
  return defineTool({
    name: 'book',
    description: 'Books a train or a room.',
    jsonSchema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] },
    async execute(args) {
      const { what } = args as { what: string }
      await wait(100)
      booked(what)
      return `the ${what}`
    },
  })
}
