import { defineMiddleware, layerOptions, option, type TypedMiddleware } from '@allium/core'
import { type FailureOptions, failureOptions, failurePolicy, runCheck } from './run-check.ts'
import { mapMessage, mapResult } from './texts.ts'
import { applyVerdict, type Check, replaceFirst, textOf } from './verdict.ts'

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
export function input(options: Check | InputOptions): TypedMiddleware<{}> {
  const { check, toolResults = false, as = 'guard:input', ...failure } = readOptions(asOptions(options))
  const guard = failurePolicy(as, failure)
  const verdictOptions = { layer: as, reply: guard.reply, code: 'guard.input' } as const

  return defineMiddleware({
    name: as,
    order: { is: ['blocks'] },
    inherit: true,
    turn(ctx, next) {
      ctx.onInput(async (message, { ctx }) => {
        const text = textOf([message])
        const verdict = text === '' ? true : await runCheck(ctx, guard, (call) => check(text, ctx, call.signal))
        const replacement = applyVerdict(ctx, verdict, { ...verdictOptions, where: 'input' })
        return replacement === undefined ? undefined : mapMessage(message, replaceFirst(replacement), new WeakMap())
      })
      return next()
    },
    ...(toolResults && {
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

function asOptions(options: Check | InputOptions): InputOptions {
  return typeof options === 'function' ? { check: options } : options
}
