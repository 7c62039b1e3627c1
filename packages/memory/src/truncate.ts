import { defineMiddleware, layerOptions, type Message, misconfigured, option, type TypedMiddleware } from '@allium/core'
import { countTokens } from './count-tokens.ts'
import { fromFirstUserMessage, messageUnits } from './message-units.ts'

export interface TruncateOptions {
  /** The maximum number of messages in a model call, without system messages. */
  maxMessages?: number | undefined
  /** The maximum number of tokens in messages, without system messages. */
  maxTokens?: number | undefined
  /** @default one token per 4 characters, and 1,000 for an image or a file */
  countTokens?(message: Readonly<Message>): number
  /** The layer's name. @default 'memory:truncate' */
  as?: string | undefined
}

const readOptions = layerOptions<TruncateOptions>('memory:truncate', {
  maxMessages: option.number({ from: 1 }),
  maxTokens: option.number({ from: 1 }),
  countTokens: option.fn,
})

/**
 * Sends the model only the newest messages, up to a number of messages or tokens. The history stays complete.
 *
 * System messages stay, and so does the newest input, however old it is. A tool call and its result are kept or dropped together, and
 * the request begins with a user message, so it is always valid. Register it outside of `model.cache`, so that the cache key covers
 * the truncated request.
 *
 * @throws AlliumError `layer.config` when neither maxMessages nor maxTokens is set, or one is below 1
 * @example
 * agent.use(memory.truncate({ maxTokens: 8_000 }))
 */
export function truncate(given: TruncateOptions): TypedMiddleware<{}> {
  const {
    maxMessages = Number.POSITIVE_INFINITY,
    maxTokens = Number.POSITIVE_INFINITY,
    countTokens: count = countTokens,
    as = 'memory:truncate',
  } = readOptions(given)
  if (maxMessages === Number.POSITIVE_INFINITY && maxTokens === Number.POSITIVE_INFINITY)
    throw misconfigured(as, 'needs the option maxMessages or maxTokens, of 1 or more.')

  return defineMiddleware({
    name: as,
    options: { maxMessages: given.maxMessages, maxTokens: given.maxTokens },
    order: { is: ['shapes', 'changesPrefix'] },
    model(ctx, next) {
      const newest = newestMessages(ctx.request.messages)
      if (newest !== undefined) ctx.messages = newest
      return next()
    },
  })

  /** Returns undefined if everything fits. */
  function newestMessages(all: readonly Readonly<Message>[]): Message[] | undefined {
    const units = messageUnits(all.filter(({ role }) => role !== 'system'))
    const input = units.findLastIndex((unit) => unit[0]?.role === 'user')
    let room = { messages: maxMessages, tokens: maxTokens }
    const roomWithout = (unit: readonly Message[]) => ({
      messages: room.messages - unit.length,
      tokens: room.tokens - unit.reduce((sum, message) => sum + count(message), 0),
    })
    if (input >= 0) room = roomWithout(units[input] as Message[])
    let from = units.length
    for (; from > 0; from--) {
      const roomLeft = from - 1 === input ? room : roomWithout(units[from - 1] as Message[])
      if (roomLeft.messages < 0 || roomLeft.tokens < 0) break
      room = roomLeft
    }
    if (from === 0) return undefined
    const newest = units.filter((_, i) => i >= from || i === input)
    return [...all.filter(({ role }) => role === 'system'), ...fromFirstUserMessage(newest.flat())].map((message) => ({
      ...message,
    }))
  }
}
