import {
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  sum,
  type TurnContext,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import type { Detector, Finding } from '@allium/detect'
import { keywordDetectors } from './content-words.ts'
import { type FailureOptions, failed, failing, failureOptions, work } from './decide.ts'
import { type DetectorOptions, detectorOf, patternDetector } from './detector.ts'
import { ending } from './ending.ts'
import { tellFound, type Where, wordFor } from './found.ts'
import { dropMetadata, filterStream, type TextFilter } from './stream-filter.ts'
import { mapMessage, mapResult, replaceIn } from './texts.ts'

export interface ContentOptions<Name extends string = string> extends FailureOptions {
  /** Words and phrases, in any case, with or without accents. They are found as whole words. */
  keywords?: readonly string[] | undefined
  /** Patterns, and detectors of your own. A pattern finds up to 256 characters; give `{ type, pattern, longest }` for more. */
  patterns?: readonly (RegExp | DetectorOptions)[] | undefined
  /** The turn is blocked, or what was found replaced. @default 'block' */
  action?: 'block' | 'redact' | undefined
  /** What stands in the place of what was found, where `action` is `'redact'`. @default '[removed]' */
  replacement?: string | ((found: Finding) => string)
  /** Where it looks. @default ['input', 'output'] */
  apply?: readonly Where[] | undefined
  /** The layer's name, and how its state key begins. @default 'guard:content' */
  as?: Name | undefined
}

/** How often the session has had something found. */
export type FoundState<Name extends string> = Record<`${Name}:found`, number>

const readOptions = layerOptions<ContentOptions>('guard:content', {
  keywords: option.list(option.text),
  patterns: option.list(option.any),
  action: option.oneOf('block', 'redact'),
  replacement: option.either(option.text, option.fn),
  apply: option.list(option.oneOf('input', 'output', 'toolResults')),
  ...failureOptions,
})

/**
 * Blocks or replaces words, phrases and patterns in what users write, models answer and tools bring.
 *
 * Texts are compared as a reader sees them: compatibility forms, digits and dashes of all scripts and characters that nobody
 * sees are folded. What streams is kept back as long as it may become a finding, so that none leaves in parts.
 *
 * @throws AlliumError `layer.config` where nothing is looked for
 * @example
 * agent.use(guard.content({ keywords: ['project nightingale'], patterns: [/\bINT-\d{6}\b/], action: 'redact' }))
 */
export function content<Name extends string = 'guard:content'>(
  given: ContentOptions<Name>,
): TypedMiddleware<FoundState<Name>> {
  const {
    keywords = [],
    patterns = [],
    action = 'block',
    replacement = '[removed]',
    apply = ['input', 'output'],
    as = 'guard:content' as Name,
    ...failure
  } = readOptions(given)
  const detectors = [...keywordDetectors(keywords), ...patterns.map((pattern) => patternOf(as, pattern))]
  if (detectors.length === 0) throw misconfigured(as, 'needs keywords or patterns.')
  const guard = failing(as, failure)
  const stateKey = `${as}:found`

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    order: { is: action === 'block' ? ['blocks'] : ['blocks', 'redacts'] },
    inherit: true,
    state: { [stateKey]: sum() },
    ...(apply.includes('input') && {
      turn(ctx, next) {
        ctx.onInput((message, about) => {
          const { whole } = filterOf(about.ctx as typeof ctx, 'input')
          return work(ctx, guard, () => mapMessage(message, whole, new WeakMap()))
        })
        return next()
      },
    }),
    ...(apply.includes('output') && {
      async model(ctx, next) {
        const kinds = new Set<string>()
        const filter = filterOf(ctx, 'output')
        ctx.pipe(
          filterStream(
            filter,
            (error) => failed(ctx, guard, error),
            (kind) => kinds.add(kind),
          ),
        )
        const response = await next()
        response.message = dropMetadata(response.message, kinds)
        return response
      },
    }),
    ...(apply.includes('toolResults') && {
      async tool(ctx, next) {
        const result = await next()
        if (result.status === 'suspended') return result
        const { whole } = filterOf(ctx, 'toolResults')
        return (await work(ctx, guard, () => mapResult(result, whole))) ?? result
      },
    }),
  })
  return withState<FoundState<Name>>(layer)

  function filterOf(ctx: TurnContext<Record<string, number>>, where: Where): TextFilter {
    const replace = (found: Finding): string => {
      ctx.state[stateKey] = 1
      tellFound(ctx, { layer: as, where, found: found.type, action })
      if (action === 'block')
        return ctx.block(`"${as}" found a ${found.type} in the ${wordFor[where]}.`, ending('guard.content', guard))
      return typeof replacement === 'string' ? replacement : replacement(found)
    }
    return { detectors, replace, whole: (text) => replaceIn(text, detectors, replace) }
  }
}

function patternOf(layer: string, pattern: RegExp | DetectorOptions): Detector {
  return pattern instanceof RegExp ? patternDetector('pattern', pattern, 256) : detectorOf(layer, pattern)
}
