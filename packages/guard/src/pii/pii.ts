import {
  defineMiddleware,
  layerOptions,
  option,
  sum,
  type TurnView,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import type { FindingState } from '../content/content.ts'
import type { DetectorOptions } from '../content/detector.ts'
import { generatedSecret } from '../content/generated-secret.ts'
import { type FailureOptions, failureOptions, failurePolicy } from '../rules/failure-options.ts'
import type { GuardTarget } from '../rules/guard-found.ts'
import { matchesToolName } from '../rules/tool-names.ts'
import { builtInDetectors, customDetector, type PiiType, piiTypes } from './detectors.ts'
import { type FindPhones, libraryPhoneDetector } from './library-phones.ts'
import { PiiGuard, type PiiStrategy } from './pii-guard.ts'
import type { PiiVault } from './placeholders.ts'

export type { PiiStrategy } from './pii-guard.ts'

export interface PiiOptions<Name extends string = string> extends FailureOptions {
  /** The types that are found. @default all */
  types?: readonly PiiType[] | undefined
  /** Additional detectors; placeholders are named after their type. */
  detectors?: readonly DetectorOptions[] | undefined
  /** What happens to values, for all types or per type. @default 'redact' */
  onFinding?: PiiStrategy | Readonly<Record<string, PiiStrategy>> | undefined
  /** Which texts are checked. @default ['input', 'output', 'toolResults'] */
  apply?: readonly GuardTarget[] | undefined
  /** The tools that receive the real values in their arguments, by name; `*` matches any text. @default ['*'] */
  restore?: readonly string[] | undefined
  /**
   * What the run's own reader sees in place of placeholders: the values from the input (`own`), also those of the tools and
   * the model (`all`), or none. The history, logs and the model always contain placeholders. @default 'own'
   */
  display?: 'own' | 'all' | 'none' | undefined
  /** `findPhoneNumbersInText` of libphonenumber-js. It also finds national formats of these countries. @default none */
  phones?: { find: FindPhones; countries?: readonly string[] }
  /** Values that are public. If the agent's instructions are a text, values in them are public too. */
  allow?: readonly (string | RegExp)[] | undefined
  /**
   * Stores the values of placeholders outside of this process. @default that of the agent's store, else in memory, for the last 10,000
   * sessions and a day
   */
  vault?: PiiVault | undefined
  /** The secret for `'hash'`. Set it to get the same hashes in all sessions. @default a random one for each session, stored in its state */
  hashKey?: string | undefined
  /** The name of the layers, and the prefix of the state key. @default 'guard:pii' */
  as?: Name | undefined
}

type Ctx = TurnView<Record<string, unknown>>

const strategyOption = option.oneOf('redact', 'mask', 'hash', 'block')
const readOptions = layerOptions<PiiOptions>('guard:pii', {
  types: option.list(option.any),
  detectors: option.list(option.any),
  onFinding: option.either(strategyOption, option.record(strategyOption)),
  apply: option.list(option.oneOf('input', 'output', 'toolResults')),
  restore: option.list(option.text),
  display: option.oneOf('own', 'all', 'none'),
  phones: option.shape<NonNullable<PiiOptions['phones']>>({
    find: option.required(option.fn),
    countries: option.list(option.text),
  }),
  allow: option.list(option.either(option.text, option.pattern)),
  vault: option.object,
  hashKey: option.secret,
  ...failureOptions,
})

/**
 * Keeps personal data and API keys from the model, the history, logs and readers, while tools still receive them.
 *
 * An address becomes `[EMAIL_1]` in the input, in tool results and in answers, even if it is split across chunks. If the model calls
 * a tool with `[EMAIL_1]`, the tool receives the address. If it answers with it, the reader receives the address. It creates two
 * layers: one around the turn, for the input, and one directly around the model and the tools, so that no other layer sees the
 * values. Register it outside of logs and stores, and before policies and approvals, which then see the arguments that tools receive.
 *
 * @throws AlliumError `layer.config` for an invalid detector
 * @example
 * agent.use(guard.pii())
 */
export function pii<Name extends string = 'guard:pii'>(
  options: PiiOptions<Name> = {},
): readonly [TypedMiddleware<FindingState<Name>>, TypedMiddleware<{}>] {
  const {
    types = piiTypes,
    detectors: customDetectors = [],
    onFinding = 'redact',
    apply = ['input', 'output', 'toolResults'],
    restore = ['*'],
    display = 'own',
    phones,
    allow = [],
    vault,
    hashKey,
    as = 'guard:pii' as Name,
    ...failure
  } = readOptions(options)
  const detectors = [
    ...customDetectors.map((detector) => customDetector(as, detector)),
    ...types.flatMap((type) => builtInDetectors(as, type)),
    ...(phones !== undefined && types.includes('phone') ? [libraryPhoneDetector(phones.find, phones.countries)] : []),
  ]
  const generated = generatedSecret(as)
  const needsSecret = hashKey === undefined && (onFinding === 'hash' || Object.values(onFinding).includes('hash'))
  const secretOf = (ctx: Ctx) => hashKey ?? generated.get(ctx)
  const guard = new PiiGuard({
    guard: failurePolicy(as, failure),
    strategy: onFinding,
    allow,
    detectors,
    vault,
    secretOf,
  })

  const turnLayer = defineMiddleware<Record<string, unknown>>({
    name: as,
    options: { types, onFinding, apply, restore, display },
    order: { is: ['redacts'] },
    inherit: true,
    state: { [`${as}:found`]: sum(), ...(needsSecret && generated.state) },
    async display(ctx) {
      return display === 'none' ? undefined : guard.displayOf(ctx, display)
    },
    async turn(ctx, next) {
      if (needsSecret) await generated.ensure(ctx)
      await guard.openTurn(ctx, display)
      if (apply.includes('input')) ctx.onInput((message, about) => guard.cleanInput(about.ctx as Ctx, message))
      return next()
    },
  })
  return [withState<FindingState<Name>>(turnLayer), withState<{}>(callLayer(as, guard, apply, restore))]
}

function callLayer(as: string, guard: PiiGuard, apply: readonly GuardTarget[], restore: readonly string[]) {
  return defineMiddleware<Record<string, unknown>>({
    name: `${as}:calls`,
    // Observing layers must see redacted answers and placeholders, even if they are innermost themselves.
    order: { is: ['mutates'], inside: ['observes', 'records'] },
    innermost: true,
    inherit: true,
    async model(ctx, next) {
      if (apply.includes('input')) await guard.cleanMessages(ctx)
      return apply.includes('output') ? guard.cleanAnswer(ctx, next) : next()
    },
    async tool(ctx, next) {
      const { args } = ctx
      const restored = matchesToolName(restore, ctx.tool.name) && (await guard.restoreArgs(ctx))
      if (typeof restored === 'string') return ctx.deny(restored)
      const result = await next()
      if (restored === true) ctx.modifyArgs(() => args, { show: true }) // for outer layers that read the arguments on the way out
      return result.status === 'suspended' || !apply.includes('toolResults') ? result : guard.cleanResult(ctx, result)
    },
  })
}
