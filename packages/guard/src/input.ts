import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { decide, type FailureOptions, failing, failureOptions } from './decide.ts'
import { mapMessage, mapResult } from './texts.ts'
import { type Check, heed, once, textIn } from './verdict.ts'

export interface InputOptions extends FailureOptions {
  /** Says of a text whether it may pass. */
  check: Check
  /** Whether results of tools are checked too, which are input of the model. @default false */
  toolResults?: boolean | undefined
  /** The layer's name. @default 'guard:input' */
  as?: string | undefined
}

const readOptions = layerOptions<InputOptions>('guard:input', {
  check: option.required(option.fn, 'a function that says of a text whether it may pass'),
  toolResults: option.flag,
  ...failureOptions,
})

/**
 * Asks a function about what the user writes before anything else happens: it lets it through, blocks it, or puts another
 * text in its place.
 *
 * Register it outside of what costs. What the model and the history get is what it let through. It fails closed: a check
 * that throws or takes too long blocks.
 *
 * @example
 * agent.use(guard.input((text) => (text.length > 4_000 ? { block: 'Too long.' } : true)))
 */
export function input(given: Check | InputOptions): TypedMiddleware<{}> {
  const { check, toolResults = false, as = 'guard:input', ...failure } = readOptions(asOptions(given))
  const guard = failing(as, failure)
  const about = { layer: as, reply: guard.reply, code: 'guard.input' } as const

  return defineMiddleware({
    name: as,
    order: { is: ['blocks'] },
    inherit: true,
    turn(ctx, next) {
      ctx.onInput(async (message, { ctx }) => {
        const text = textIn([message])
        const verdict = text === '' ? true : await decide(ctx, guard, (call) => check(text, ctx, call.signal))
        const replaced = heed(ctx, verdict, { ...about, where: 'input' })
        return replaced === undefined ? undefined : mapMessage(message, once(replaced), new WeakMap())
      })
      return next()
    },
    ...(toolResults && {
      async tool(ctx, next) {
        const result = await next()
        const text = result.status === 'suspended' ? '' : textIn([result])
        if (text === '') return result
        const verdict = await decide(ctx, guard, (call) => check(text, ctx, call.signal))
        const replaced = heed(ctx, verdict, { ...about, where: 'toolResults' })
        return replaced === undefined ? result : mapResult(result, once(replaced))
      },
    }),
  })
}

function asOptions(options: Check | InputOptions): InputOptions {
  return typeof options === 'function' ? { check: options } : options
}
