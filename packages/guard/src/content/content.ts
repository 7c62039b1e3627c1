import {
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  sum,
  type TurnView,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import type { Detector, Finding } from '@allium/shared/detect'
import { type FailureOptions, type FailurePolicy, failureOptions, failurePolicy } from '../rules/failure-options.ts'
import { blockOptions } from '../rules/guard-codes.ts'
import { emitFound, type GuardTarget, targetNames } from '../rules/guard-found.ts'
import { runLocalCheck } from '../rules/run-check.ts'
import { mapMessage, mapResult } from '../text/map-message.ts'
import { createDetector, type DetectorOptions, patternDetector } from './detector.ts'
import { filterAnswer } from './filter-answer.ts'
import { keywordDetectors } from './keyword-detectors.ts'
import { replaceIn, type TextFilter } from './text-filter.ts'

export interface ContentOptions<Name extends string = string> extends FailureOptions {
  /** Words and phrases, matched as whole words, ignoring case and accents. */
  keywords?: readonly string[] | undefined
  /** Patterns, and your own detectors. A pattern matches up to 256 characters; pass `{ type, pattern, maxLength }` for more. */
  patterns?: readonly (RegExp | DetectorOptions)[] | undefined
  /** Whether a finding blocks the turn or is replaced. @default 'block' */
  onFinding?: 'block' | 'redact' | undefined
  /** The replacement for a finding when `onFinding` is `'redact'`. @default '[removed]' */
  replacement?: string | ((found: Finding) => string)
  /** Which texts are checked. @default ['input', 'output'] */
  apply?: readonly GuardTarget[] | undefined
  /** The layer's name, and the prefix of its state key. @default 'guard:content' */
  as?: Name | undefined
}

/** The number of findings in the session. */
export type FindingState<Name extends string> = Record<`${Name}:found`, number>

const readOptions = layerOptions<ContentOptions>('guard:content', {
  keywords: option.list(option.text),
  patterns: option.list(option.any),
  onFinding: option.oneOf('block', 'redact'),
  replacement: option.either(option.text, option.fn),
  apply: option.list(option.oneOf('input', 'output', 'toolResults')),
  ...failureOptions,
})

/**
 * Blocks or replaces words, phrases and patterns in user input, model answers and tool results.
 *
 * Texts are compared as a reader sees them: compatibility forms, digits and dashes of all scripts, and invisible characters are
 * folded. Streamed text is held back while it may still become a finding, so that no finding leaves in parts.
 *
 * @throws AlliumError `layer.config` when there is nothing to look for
 * @example
 * agent.use(guard.content({ keywords: ['project nightingale'], patterns: [/\bINT-\d{6}\b/], onFinding: 'redact' }))
 */
export function content<Name extends string = 'guard:content'>(
  options: ContentOptions<Name>,
): TypedMiddleware<FindingState<Name>> {
  const {
    keywords = [],
    patterns = [],
    onFinding = 'block',
    replacement = '[removed]',
    apply = ['input', 'output'],
    as = 'guard:content' as Name,
    ...failure
  } = readOptions(options)
  const detectors = [...keywordDetectors(keywords), ...patterns.map((pattern) => toDetector(as, pattern))]
  if (detectors.length === 0) throw misconfigured(as, 'needs keywords or patterns.')
  const guard = failurePolicy(as, failure)
  const settings: ContentSettings = { guard, detectors, action: onFinding, replacement }

  const layer = defineMiddleware<Record<string, number>>({
    name: as,
    order: { is: onFinding === 'block' ? ['blocks'] : ['blocks', 'redacts'] },
    inherit: true,
    state: { [`${as}:found`]: sum() },
    ...(apply.includes('input') && {
      turn(ctx, next) {
        ctx.onInput((message, about) => {
          const { filterText } = filterFor(about.ctx as typeof ctx, 'input', settings)
          return runLocalCheck(ctx, guard, () => mapMessage(message, filterText))
        })
        return next()
      },
    }),
    ...(apply.includes('output') && {
      model(ctx, next) {
        return filterAnswer(ctx, next, filterFor(ctx, 'output', settings), guard)
      },
    }),
    ...(apply.includes('toolResults') && {
      async tool(ctx, next) {
        const result = await next()
        if (result.status === 'suspended') return result
        const { filterText } = filterFor(ctx, 'toolResults', settings)
        return (await runLocalCheck(ctx, guard, () => mapResult(result, filterText))) ?? result
      },
    }),
  })
  return withState<FindingState<Name>>(layer)
}

interface ContentSettings {
  readonly guard: FailurePolicy
  readonly detectors: readonly Detector[]
  readonly action: 'block' | 'redact'
  readonly replacement: string | ((found: Finding) => string)
}

/** Returns the filter of a text, which counts and reports what it finds. */
function filterFor(
  ctx: TurnView<Record<string, number>>,
  where: GuardTarget,
  { guard, detectors, action, replacement }: ContentSettings,
): TextFilter {
  const { name: layer } = guard
  const replace = (finding: Finding): string => {
    ctx.state[`${layer}:found`] = 1
    emitFound(ctx, { layer, where, found: finding.type, action })
    if (action === 'block')
      return ctx.block(
        `"${layer}" found a ${finding.type} in the ${targetNames[where]}.`,
        blockOptions('guard.content', guard),
      )
    return typeof replacement === 'string' ? replacement : replacement(finding)
  }
  const filterText = (text: string) => replaceIn(text, detectors, replace)
  return { detectors, replace, filterText, filterName: filterText }
}

function toDetector(layer: string, pattern: RegExp | DetectorOptions): Detector {
  return pattern instanceof RegExp ? patternDetector('pattern', pattern, 256) : createDetector(layer, pattern)
}
