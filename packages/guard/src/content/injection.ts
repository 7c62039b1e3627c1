import { defineMiddleware, layerOptions, option, type TypedMiddleware, withState } from '@allium/core'
import { type FailureOptions, failureOptions, failurePolicy } from '../rules/failure-options.ts'
import { matchesToolName } from '../rules/tool-names.ts'
import { generatedSecret } from './generated-secret.ts'
import { type InjectionDetector, InjectionGuard } from './injection-guard.ts'
import { injectionScore } from './injection-score.ts'

export interface InjectionOptions<Name extends string = string> extends FailureOptions {
  /** The highest score counts. @default the patterns of @andersmyrmel/vard */
  detectors?: readonly InjectionDetector[] | undefined
  /** The score from which a text is suspect. @default 0.85 */
  threshold?: number | undefined
  /** What happens to suspect input. @default 'block' */
  onInput?: 'block' | 'pass' | undefined
  /** What happens to a suspect tool result: it is marked as suspect, withheld from the model, or the turn is blocked. @default 'mark' */
  onToolResult?: 'mark' | 'withhold' | 'block' | undefined
  /** Tools whose results are not marked as untrusted, by name; `*` matches any text. @default none */
  trustedTools?: readonly string[] | undefined
  /** Tools that need approval once the session contains untrusted text, by name. @default none */
  privilegedTools?: readonly string[] | undefined
  /** The secret that marks are derived from; it must be unguessable. @default a random one for each session, stored in its state */
  secret?: string | undefined
  /** The layer's name, and the prefix of its state keys. @default 'guard:injection' */
  as?: Name | undefined
}

/** The turn's highest score, whether untrusted text has entered, and the calls with suspect results. */
export type InjectionState<Name extends string> = Record<`${Name}:score`, number> &
  Record<`${Name}:untrusted`, boolean> &
  Record<`${Name}:suspects`, string[]>

const readOptions = layerOptions<InjectionOptions>('guard:injection', {
  detectors: option.list(option.fn),
  threshold: option.number({ from: 0 }),
  onInput: option.oneOf('block', 'pass'),
  onToolResult: option.oneOf('mark', 'withhold', 'block'),
  trustedTools: option.list(option.text),
  privilegedTools: option.list(option.text),
  secret: option.secret,
  ...failureOptions,
})

/**
 * Separates the user's input from tool content. Results are marked as untrusted data, privileged tools need approval after
 * them, and detectors score text that looks like an attack.
 *
 * Detectors only find known attacks. The reliable protection is structural: marks that a result cannot forge, approvals, and
 * `guard.policy`. Register it anywhere: it always runs directly around the model and the tools.
 *
 * @example
 * agent.use(guard.injection({ privilegedTools: ['send_*', 'refund'] }))
 */
export function injection<Name extends string = 'guard:injection'>(
  options: InjectionOptions<Name> = {},
): TypedMiddleware<InjectionState<Name>> {
  const {
    detectors = [injectionScore],
    threshold = 0.85,
    onInput = 'block',
    onToolResult = 'mark',
    trustedTools = [],
    privilegedTools = [],
    secret,
    as = 'guard:injection' as Name,
    ...failure
  } = readOptions(options)
  const generated = generatedSecret(as)
  const guard = new InjectionGuard({
    guard: failurePolicy(as, failure),
    detectors,
    threshold,
    onInput,
    onToolResult,
    trusted: trustedTools,
    privileged: privilegedTools,
    secretOf: (ctx) => secret ?? generated.get(ctx),
  })

  const layer = defineMiddleware<Record<string, unknown>>({
    name: as,
    order: { is: ['authorizes'] },
    innermost: true,
    inherit: true,
    guards: (name) => matchesToolName(privilegedTools, name),
    state: { ...guard.state, ...(secret === undefined && generated.state) },
    async turn(ctx, next) {
      if (secret === undefined) await generated.ensure(ctx)
      ctx.onInput((message, about) => guard.checkInput(about.ctx as typeof ctx, message))
      return next()
    },
    async model(ctx, next) {
      await guard.markRequest(ctx)
      const response = await next()
      guard.addProviderResults(ctx, response)
      return response
    },
    async tool(ctx, next) {
      const denial = guard.askBefore(ctx)
      if (denial !== undefined) return denial
      const result = await next()
      return result.status === 'suspended' ? result : guard.checkResult(ctx, result)
    },
  })
  return withState<InjectionState<Name>>(layer)
}
