import { AlliumError, defineMiddleware, type TypedMiddleware } from '@allium/core'
import { wordCounter } from './word-counter.ts'

export interface MaxWordsOptions<Name extends string = string> {
  /** Words of one answer. */
  words: number
  /** The text that replaces the rest of an answer. @default '…' */
  marker?: string
  /** The layer's name, and how its state keys begin. @default 'acme:maxWords' */
  as?: Name
}

/** An answer was cut. */
export interface AnswerCut {
  type: 'acme:maxWords'
  layer: string
  /** The number of words that remained. */
  words: number
}

declare module '@allium/core' {
  interface AgentEvents {
    'acme:maxWords': AnswerCut
  }
}

/** How many answers of the session were cut. */
export type MaxWordsState<Name extends string> = Record<`${Name}:cut`, number>

/**
 * Limits answers to a number of words. The model receives the limit as an instruction, and a longer answer is cut.
 *
 * Use it for chats with little room. The stream, the result and the history contain the same, cut answer. Answers in JSON are left
 * alone.
 *
 * @throws AlliumError `layer.config` for a number of words that is not 1 or more
 * @example
 * agent.use(maxWords({ words: 60 }))
 */
export function maxWords<Name extends string = 'acme:maxWords'>({
  words,
  marker = '…',
  as = 'acme:maxWords' as Name,
}: MaxWordsOptions<Name>): TypedMiddleware<MaxWordsState<Name>> {
  if (!(words >= 1))
    throw new AlliumError('layer.config', `"${as}" needs the option words of 1 or more, but ${words} was given.`)

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    order: { is: ['shapes'] },
    state: { [`${as}:cut`]: { default: 0, reducer: (cut, more) => cut + more } },
    async model(ctx, next) {
      if (ctx.request.responseFormat.type === 'json') return next()
      ctx.addSystemMessage(`Answer in at most ${words} words.`)
      let isCut = false
      // A pipe, because it starts again when a retry inside this layer sends the answer again. `onChunk` does not.
      ctx.pipe(async function* (chunks) {
        const fitting = wordCounter(words)
        isCut = false
        for await (const chunk of chunks) {
          if (chunk.type !== 'text-delta') yield chunk
          else if (!isCut) {
            const delta = fitting(chunk.delta)
            isCut = delta !== chunk.delta
            yield { ...chunk, delta: isCut ? delta + marker : delta }
          }
        }
      })
      const response = await next()
      if (isCut) {
        ctx.state[`${as}:cut`] = 1
        ctx.emit({ type: 'acme:maxWords', layer: as, words } satisfies AnswerCut)
      }
      return response
    },
  })
  return layer as TypedMiddleware<MaxWordsState<Name>> // the key is computed from the name
}
