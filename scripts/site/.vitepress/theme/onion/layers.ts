import type { ModelContext, ModelNext } from '@allium/core'
import { textOf } from './run.ts'

export type LayerName = 'log' | 'budget' | 'retry' | 'redact'

interface Notes {
  note(text: string): void
  log(line: string): void
}

interface PlaygroundLayer {
  readonly about: string
  create(notes: Notes): (ctx: ModelContext, next: ModelNext) => ReturnType<ModelNext>
}

/** Four layers of a few lines each, whose order changes what happens. */
export const layers: Readonly<Record<LayerName, PlaygroundLayer>> = {
  log: {
    about: 'writes the request to a log',
    create:
      ({ note, log }) =>
      async (ctx, next) => {
        log(textOf(ctx.messages.at(-1)))
        note(`logs "${textOf(ctx.messages.at(-1))}"`)
        return next()
      },
  },
  budget: {
    about: 'counts what it pays for',
    create: ({ note }) => {
      let calls = 0
      return async (_ctx, next) => {
        calls++
        note(`counts call ${calls}`)
        return next()
      }
    },
  },
  retry: {
    about: 'calls next() again after an error',
    create:
      ({ note }) =>
      async (_ctx, next) => {
        try {
          return await next()
        } catch (error) {
          note(`catches "${(error as Error).message}" and tries again`)
          return await next()
        }
      },
  },
  redact: {
    about: 'replaces e-mail addresses',
    create:
      ({ note }) =>
      async (ctx, next) => {
        ctx.messages = ctx.messages.map((message) => {
          const clean = textOf(message).replace(/\S+@\S+\w/, '[email]')
          return typeof message.content === 'string' && clean !== message.content
            ? { ...message, content: clean }
            : message
        })
        note('replaces the address')
        return next()
      },
  },
}
