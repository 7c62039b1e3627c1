import { defineMiddleware, layerOptions, type Message, misconfigured, option, type TypedMiddleware } from '@allium/core'
import { countTokens } from './count-tokens.ts'
import { fromFirstUserMessage, messageUnits } from './message-units.ts'

export interface TruncateOptions {
  /** The most messages that a model call is sent, without system messages. */
  messages?: number | undefined
  /** The most tokens of messages, without system messages. */
  tokens?: number | undefined
  /** @default a token for 4 characters, and 1,000 for an image or a file */
  countTokens?(message: Readonly<Message>): number
  /** The layer's name. @default 'memory:truncate' */
  as?: string | undefined
}

const readOptions = layerOptions<TruncateOptions>('memory:truncate', {
  messages: option.number({ from: 1 }),
  tokens: option.number({ from: 1 }),
  countTokens: option.fn,
})

/**
 * Sends the model the newest messages alone, up to a number or an amount of tokens. The history stays whole.
 *
 * System messages stay, and so does the newest input, however long ago it came. A tool call and its result stand or go
 * together, and what is sent begins with a message of the user, so it is always valid. Outside of `model.cache`, whose key is what is sent.
 *
 * @throws AlliumError `layer.config` where neither messages nor tokens are given, or one is below 1
 * @example
 * agent.use(memory.truncate({ tokens: 8_000 }))
 */
export function truncate(given: TruncateOptions): TypedMiddleware<{}> {
  const {
    messages = Number.POSITIVE_INFINITY,
    tokens = Number.POSITIVE_INFINITY,
    countTokens: count = countTokens,
    as = 'memory:truncate',
  } = readOptions(given)
  if (messages === Number.POSITIVE_INFINITY && tokens === Number.POSITIVE_INFINITY)
    throw misconfigured(as, 'needs the option messages or tokens, of 1 or more.')

  return defineMiddleware({
    name: as,
    order: { is: ['shapes'] },
    model(ctx, next) {
      const newest = newestMessages(ctx.request.messages)
      if (newest !== undefined) ctx.messages = newest
      return next()
    },
  })

  /** Undefined where all fits. */
  function newestMessages(all: readonly Readonly<Message>[]): Message[] | undefined {
    const units = messageUnits(all.filter(({ role }) => role !== 'system'))
    const input = units.findLastIndex((unit) => unit[0]?.role === 'user')
    let room = { messages, tokens }
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
