import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { mapMessage, mapResult } from '../text/map-message.ts'
import { textOf } from '../text/text-of.ts'
import { type FailureOptions, failureOptions, failurePolicy } from './failure-options.ts'
import { runCheck } from './run-check.ts'
import { applyVerdict, type Check, replaceFirst } from './verdict.ts'

export interface InputOptions extends FailureOptions {
  /** Decides whether a text may pass. */
  check: Check
  /** Which texts are checked. Tool results are model input, too. @default ['input'] */
  apply?: readonly ('input' | 'toolResults')[] | undefined
  /** The layer's name. @default 'guard:input' */
  as?: string | undefined
}

const readOptions = layerOptions<InputOptions>('guard:input', {
  check: option.required(option.fn, 'a function that says of a text whether it may pass'),
  apply: option.some(option.oneOf('input', 'toolResults')),
  ...failureOptions,
})

/**
 * Checks user input with a function before anything else happens. The function lets the text through, blocks it, or replaces it.
 *
 * Register it outside of expensive layers. The model and the history receive the text that it let through. It fails closed: a
 * check that throws or takes too long blocks the turn.
 *
 * @example
 * agent.use(guard.input((text) => (text.length > 4_000 ? { block: 'Too long.' } : true)))
 */
export function input(options: Check | InputOptions): TypedMiddleware<{}> {
  const {
    check,
    apply = ['input'],
    as = 'guard:input',
    ...failure
  } = readOptions(typeof options === 'function' ? { check: options } : options)
  const guard = failurePolicy(as, failure)
  const verdictOptions = { layer: as, reply: guard.reply, code: 'guard.input' } as const

  return defineMiddleware({
    name: as,
    order: { is: ['blocks'] },
    inherit: true,
    ...(apply.includes('input') && {
      turn(ctx, next) {
        ctx.onInput(async (message, { ctx: turn }) => {
          const text = textOf([message])
          const verdict = text === '' ? true : await runCheck(turn, guard, (call) => check(text, turn, call.signal))
          const replacement = applyVerdict(turn, verdict, { ...verdictOptions, where: 'input' })
          return replacement === undefined ? undefined : mapMessage(message, replaceFirst(replacement))
        })
        return next()
      },
    }),
    ...(apply.includes('toolResults') && {
      async tool(ctx, next) {
        const result = await next()
        const text = result.status === 'suspended' ? '' : textOf([result])
        if (text === '') return result
        const verdict = await runCheck(ctx, guard, (call) => check(text, ctx, call.signal))
        const replacement = applyVerdict(ctx, verdict, { ...verdictOptions, where: 'toolResults' })
        return replacement === undefined ? result : mapResult(result, replaceFirst(replacement))
      },
    }),
  })
}
